// The compiler's page: compile a list, publish lists, run jobs, see the health of sources.
import { html, render, useEffect, useLayoutEffect, useRef, useState } from "../ui/draw.js";
import { TabPanel, Tabs } from "../ui/layout.js";
import { showShell } from "../ui/shell.js";
import { recall, remember, useHash } from "../ui/state.js";
import { loadValue, storeValue } from "./browser-store.js";
import { CompileView } from "./compile-view.js";
import { FORM_KEY, fromStored, toStored } from "./form-state.js";
import { JobsView } from "./jobs-view.js";
import { ListsView } from "./lists-view.js";
import { SourcesView } from "./sources-view.js";

const TABS = [["compile", "Compile"], ["lists", "Lists"], ["jobs", "Jobs"], ["sources", "Sources"]];

function CompilerPage() {
  const [hash, go] = useHash();
  const [form, setForm] = useStoredForm();
  const [place, ...rest] = hash.split("/");
  const chosen = TABS.some(([key]) => key === place) ? place : "compile";
  return html`<${Tabs} label="Parts of the compiler" tabs=${TABS} chosen=${chosen} onChoose=${(key) => go(key === "compile" ? "" : key)} />
    <${TabPanel} chosen=${chosen}>
      ${chosen === "compile" && html`<${CompileView} form=${form} setForm=${setForm} onPublish=${() => go("lists/new")} />`}
      ${chosen === "lists" && html`<${ListsView} path=${rest.join("/")} go=${(path) => go(path ? `lists/${path}` : "lists")} form=${form} />`}
      ${chosen === "jobs" && html`<${JobsView} form=${form} />`}
      ${chosen === "sources" && html`<${SourcesView} />`}
    <//>`;
}

// The form survives a reload, with its attached files.
function useStoredForm() {
  const [form, setForm] = useState(() => fromStored(recall(FORM_KEY)));
  const hasFiles = useRef(false);
  useEffect(() => {
    loadValue("files", []).then((files) => {
      hasFiles.current = true;
      if (files.length) setForm((now) => ({ ...now, files: [...files, ...now.files] }));
    });
  }, []);
  // At once, not after the next drawing: by then the page may be left.
  useLayoutEffect(() => void remember(FORM_KEY, toStored(form)), [form]);
  useEffect(() => {
    if (hasFiles.current) storeValue("files", form.files);
  }, [form.files]);
  return [form, setForm];
}

showShell("adblock-compiler");
render(html`<${CompilerPage} />`, document.getElementById("app"));
