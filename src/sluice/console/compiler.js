// The compiler's page: compile a list, run jobs and workflows, see the health of sources.
import { byId, h, tabs } from "./dom.js";
import { compilePanel } from "./compile.js";
import { jobsPanel } from "./jobs.js";
import { showShell } from "./shell.js";
import { sourcesPanel } from "./sources.js";
import { workflowsPanel } from "./workflows.js";

showShell("adblock-compiler");
const compile = compilePanel();
const jobs = jobsPanel(compile.request);
const workflows = workflowsPanel(compile.request);
const sources = sourcesPanel();
const main = byId("main");
main.append(
  h("div", {}, h("h1", {}, "Filter-list compiler"), h("p", { class: "lead" }, "Combines many blocklists into one clean list for AdGuard Home, Pi-hole and uBlock Origin.")),
  tabs("Parts of the compiler", [
    ["Compile", compile.panel],
    ["Jobs", jobs.panel, jobs.refresh],
    ["Workflows", workflows.panel, workflows.refresh],
    ["Sources", sources.panel, sources.refresh],
  ]),
  compile.panel,
  jobs.panel,
  workflows.panel,
  sources.panel,
);
