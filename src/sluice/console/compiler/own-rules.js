// The person's own rules: typed into a box, or attached as files. A large text is attached, never drawn.
import { countOf, html, useRef, useState } from "../ui/draw.js";
import { Button, IconButton, TextArea } from "../ui/controls.js";
import { Banner } from "../ui/feedback.js";
import { countLines } from "../ui/files.js";
import { Icon } from "../ui/icons.js";
import { ATTACH_ABOVE_CHARS, MAX_SENT_BYTES } from "./form-state.js";

export function OwnRules({ form, setForm }) {
  const [isOver, setOver] = useState(false);
  const picker = useRef(null);
  const attach = (files) => setForm((now) => ({ ...now, files: [...now.files, ...files] }));
  const takeFiles = async (list) => attach(await Promise.all([...list].map(async (file) => ({ name: file.name, text: await file.text() }))));
  const paste = (event) => {
    const text = event.clipboardData.getData("text");
    if (text.length <= ATTACH_ABOVE_CHARS) return;
    event.preventDefault();
    attach([{ name: "pasted text", text }]);
  };
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    takeFiles(event.dataTransfer.files);
  };
  const size = form.files.reduce((sum, { text }) => sum + text.length, form.rules.length);
  return html`<div
    class="field drop ${isOver ? "over" : ""}"
    onDragOver=${(event) => (event.preventDefault(), setOver(true))}
    onDragLeave=${() => setOver(false)}
    onDrop=${drop}
  >
    <${TextArea}
      label="Own rules, one per line"
      rows="5"
      value=${form.rules}
      placeholder="||ads.example^"
      hint="Rules, hosts lines or domains. Drop a file here, or paste one: a long text is attached."
      onInput=${(rules) => setForm({ ...form, rules })}
      onPaste=${paste}
    />
    <div>
      <${Button} icon="upload" onClick=${() => picker.current.click()}>Attach a file<//>
      <input type="file" hidden multiple ref=${picker} aria-label="Files with rules" onChange=${(event) => (takeFiles(event.target.files), (event.target.value = ""))} />
    </div>
    ${form.files.length > 0 &&
    html`<ul class="rows" aria-label="Attached files">
      ${form.files.map(
        (file) =>
          html`<li class="attached"><${Icon} name="link" /><span class="grow">${file.name}</span><span class="hint">${countOf(countLines(file.text), "line")}</span>
            <${IconButton} icon="close" label="Remove ${file.name}" onClick=${() => setForm({ ...form, files: form.files.filter((each) => each !== file) })} /></li>`,
      )}
    </ul>`}
    ${size > MAX_SENT_BYTES && html`<${Banner} kind="warn">Own rules and files are ${(size / 1e6).toFixed(1)} MB together; the service takes 4 MB. Put large lists on a web server and add their address.<//>`}
  </div>`;
}
