// Removes copies: of a page, of everything with a tag, or of the whole site.
import { html, useState } from "../ui/draw.js";
import { Button, Radios, TextField } from "../ui/controls.js";
import { Banner } from "../ui/feedback.js";
import { Card, useConfirm } from "../ui/layout.js";
import { act } from "./zone-api.js";

const KINDS = [["page", "A page"], ["prefix", "Everything below an address"], ["tag", "Everything with a tag"], ["all", "The whole site"]];
const BODIES = { page: (value) => ({ urls: [value] }), prefix: (value) => ({ prefixes: [value] }), tag: (value) => ({ tags: [value] }), all: () => ({ global: true }) };
const LABELS = { page: "Address of the page", prefix: "Address", tag: "Tag" };

export const purge = async (zone, body) => {
  const reply = await zone.send("purge", body);
  const seconds = Math.ceil((reply.estimated_completion_ms ?? 0) / 1000);
  return `Purged. In ${seconds || "a few"} s no data centre serves the old copies.`;
};

export function PurgeCard({ zone }) {
  const [kind, setKind] = useState("page");
  const [value, setValue] = useState("");
  const [notice, setNotice] = useState(null);
  const [dialog, ask] = useConfirm();
  const text = value.trim();
  const run = () => act(setNotice, () => purge(zone, BODIES[kind](text)));
  const confirm = () =>
    ask(
      kind === "all"
        ? { title: "Purge the whole site?", text: "Every copy goes. Until the pages are warm again, every visitor waits for the origin.", action: "Purge everything", run }
        : { title: `Purge ${text}?`, text: "The copies go, and the pages are warmed again if the zone is set so.", action: "Purge", run },
    );
  return html`<${Card} title="Purge">
    <${Radios} legend="What" name="purge" row=${true} value=${kind} options=${KINDS} onChange=${setKind} />
    ${kind !== "all" && html`<${TextField} label=${LABELS[kind]} value=${value} onInput=${setValue} placeholder=${kind === "tag" ? "post-12" : "https://www.example.com/blog/"} />`}
    ${notice && html`<${Banner} kind=${notice.kind}>${notice.text}<//>`}
    <div><${Button} icon="trash" kind="danger" disabled=${kind !== "all" && !text} onClick=${confirm}>Purge<//></div>
    ${dialog}
  <//>`;
}
