// Questions about a list: why is a domain blocked, and what does each source contribute?
import { formatNumber, html, useState } from "../ui/draw.js";
import { getJson } from "../ui/api.js";
import { TextField } from "../ui/controls.js";
import { Badge, Empty, ErrorBanner, Loaded } from "../ui/feedback.js";
import { Card, Table } from "../ui/layout.js";
import { usePolling } from "../ui/state.js";

const VERDICTS = { blocked: ["bad", "blocked"], allowed: ["good", "allowed"], none: ["", "not in the list"] };

export function WhyBlocked({ name }) {
  const [domain, setDomain] = useState("");
  const [answer, setAnswer] = useState(null);
  const [error, setError] = useState(null);
  const ask = async (event) => {
    event.preventDefault();
    const asked = domain.trim().replace(/^https?:\/\//i, "").split("/")[0];
    if (!asked) return;
    try {
      setError(null);
      setAnswer({ domain: asked, ...(await getJson(`/lists/${name}/why?domain=${encodeURIComponent(asked)}`)) });
    } catch (failure) {
      setAnswer(null);
      setError(failure);
    }
  };
  return html`<${Card} title="Why is this domain blocked?">
    <form class="row" onSubmit=${ask}>
      <div class="grow"><${TextField} label="Domain" value=${domain} placeholder="ads.example.com" onInput=${setDomain} /></div>
      <button type="submit" class="primary">Ask</button>
    </form>
    <${ErrorBanner} error=${error} />
    ${answer && html`<${Answer} answer=${answer} />`}
  <//>`;
}

const Answer = ({ answer: { domain, verdict, rule, sources } }) =>
  html`<div role="status" class="field">
    <p><strong>${domain}</strong> <${Badge} kind=${VERDICTS[verdict]?.[0]}>${VERDICTS[verdict]?.[1] ?? verdict}<//></p>
    ${rule && html`<p>By the rule <code>${rule}</code></p>`}
    ${sources?.length > 0 && html`<ul class="plain">${sources.map(({ source, line }) => html`<li>${source}, line ${formatNumber(line)}</li>`)}</ul>`}
  </div>`;

export function Overlap({ name, version }) {
  const state = usePolling((options) => getJson(`/lists/${name}/overlap`, options), 0, `${name} ${version}`);
  const share = ({ unique, rules }) => (rules ? `${formatNumber(unique)} (${Math.round((100 * unique) / rules)} %)` : "0");
  return html`<${Card} title="What each source contributes">
    <${Loaded} state=${state}>
      ${({ sources, pairs }) =>
        html`<${Table}
            caption="Contribution of each source"
            columns=${[["Source", ({ source }) => source, "wrap"], ["Rules", ({ rules }) => formatNumber(rules), "number"], ["Only here", share, "number"]]}
            rows=${sources}
          />
          <p class="hint">Rules are compared as the sources write them: a hosts line and an adblock rule for the same name count as two.</p>
          ${pairs.some(({ shared }) => shared > 0)
            ? html`<h3>Shared rules</h3>
                <${Table} caption="Rules that two sources share" columns=${[["Source", ({ a }) => a, "wrap"], ["and", ({ b }) => b, "wrap"], ["Shared", ({ shared }) => formatNumber(shared), "number"]]} rows=${pairs.filter(({ shared }) => shared > 0).sort((one, two) => two.shared - one.shared).slice(0, 20)} />`
            : html`<${Empty}>No two sources share a rule.<//>`}`}
    <//>
  <//>`;
}
