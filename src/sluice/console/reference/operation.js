// One operation: what it takes, what it answers, examples, and a form to try it.
import { html, useEffect, useRef, useState } from "../ui/draw.js";
import { Badge } from "../ui/feedback.js";
import { Prose, SchemaList, describeType, resolve } from "./schema.js";
import { TryForm, describeSecurity, explainUntryable } from "./try-form.js";

const METHODS = { GET: "good", POST: "post", PUT: "warn", PATCH: "warn", DELETE: "bad" };

// The content is drawn when the operation is opened.
export function Operation({ method, path, operation, api, isLinked }) {
  const [isOpen, setOpen] = useState(isLinked);
  const place = useRef(null);
  useEffect(() => {
    if (!isLinked) return;
    setOpen(true);
    place.current.scrollIntoView();
    place.current.querySelector("summary").focus({ preventScroll: true });
  }, [isLinked]);
  const security = describeSecurity(operation);
  return html`<details class="card operation" id=${operation.operationId} ref=${place} open=${isOpen} onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary>
      <span class="badge method ${METHODS[method] ?? ""}">${method}</span>
      <h3>${path}</h3>
      <span class="said">${operation.summary ?? "No description"}${security && ` · ${security}`}</span>
    </summary>
    ${isOpen && html`<${Inside} ...${{ method, path, operation, api }} />`}
  </details>`;
}

function Inside({ method, path, operation, api }) {
  const reason = explainUntryable(operation);
  return html`<div class="inside">
    ${operation.description && html`<p class="wide"><${Prose} text=${operation.description} /></p>`}
    <div class="part"><${Parameters} operation=${operation} api=${api} /><${Body} operation=${operation} api=${api} /><${Replies} operation=${operation} api=${api} /></div>
    <${TryForm} ...${{ method, path, operation, api, reason }} />
  </div>`;
}

const Parameters = ({ operation, api }) =>
  operation.parameters?.length > 0 &&
  html`<div class="part">
    <h4>Parameters</h4>
    <ul class="shape">
      ${operation.parameters.map(
        (parameter) =>
          html`<li>
            <code>${parameter.name}</code> <span class="kind">in the ${parameter.in}, ${describeType(parameter.schema, api)}</span>${parameter.required && html` <span class="must">required</span>`}
            ${parameter.description && html` <span class="about"><${Prose} text=${parameter.description} /></span>`}
          </li>`,
      )}
    </ul>
  </div>`;

function Body({ operation, api }) {
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  if (!schema) return null;
  const about = resolve(schema, api).description;
  return html`<div class="part">
    <h4>${operation.requestBody.required ? "Body" : "Body (optional)"}</h4>
    ${about && html`<p class="hint"><${Prose} text=${about} /></p>`}<${SchemaList} schema=${schema} api=${api} must="required" />
  </div>`;
}

const Replies = ({ operation, api }) =>
  html`<div class="part">
    <h4>Replies</h4>
    ${Object.entries(operation.responses).map(([status, response]) => html`<${ReplyRow} status=${status} response=${resolve(response, api)} api=${api} />`)}
  </div>`;

function ReplyRow({ status, response, api }) {
  const kind = /^[12]/.test(status) ? "good" : status === "default" ? "" : "warn";
  const line = html`<${Badge} kind=${kind}>${status === "default" ? "other" : status}<//> <${Prose} text=${response.description} />`;
  const headers = Object.entries(response.headers ?? {});
  const media = Object.entries(response.content ?? {});
  if (!headers.length && !media.length) return html`<p class="reply">${line}</p>`;
  return html`<details class="reply">
    <summary>${line}</summary>
    <div class="inside part">
      ${headers.map(([name, { description = "" }]) => html`<p class="hint"><code>${name}</code> <${Prose} text=${description} /></p>`)}
      ${media.map(([type, { schema }]) => html`<${Media} type=${type} schema=${schema} api=${api} />`)}
    </div>
  </details>`;
}

function Media({ type, schema, api }) {
  const about = schema?.description ?? resolve(schema, api).description;
  return html`<div class="part"><p><code>${type}</code></p>${about && html`<p class="hint"><${Prose} text=${about} /></p>`}<${SchemaList} schema=${schema} api=${api} must="always" /></div>`;
}
