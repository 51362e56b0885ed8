// A request as a command or as code. A token is a variable in it, because shells store commands in their history.

const quote = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const indent = (text) => text.replaceAll("\n", "\n    ");
const isCompressed = (headers) => /json|text/.test(headers.Accept);

export function toCurl({ method, url, headers, body }) {
  const options = Object.entries(headers).map(([name, value]) => (name === "Authorization" ? '-H "Authorization: Bearer $ADMIN_TOKEN"' : `-H ${quote(`${name}: ${value}`)}`));
  return ["curl", ...(isCompressed(headers) ? ["--compressed"] : []), "-X", method, ...options, ...(body ? ["-d", quote(body)] : []), quote(location.origin + url)].join(" ");
}

export function toPython({ method, url, headers, body }) {
  const fields = Object.entries(headers).map(([name, value]) => (name === "Authorization" ? `    "Authorization": f"Bearer {os.environ['ADMIN_TOKEN']}",` : `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`));
  const imports = ["import httpx", ...("Authorization" in headers ? ["import os"] : [])].sort();
  return [...imports, "", `reply = httpx.request(`, `    ${JSON.stringify(method)},`, `    ${JSON.stringify(location.origin + url)},`, `    headers={`, ...fields.map((line) => `    ${line}`), `    },`, ...(body ? [`    content=${JSON.stringify(body)},`] : []), ")", "reply.raise_for_status()", /json/.test(headers.Accept) ? "print(reply.json())" : "print(reply.text)"].join("\n");
}

export function toJavaScript({ method, url, headers, body }) {
  const fields = Object.entries(headers).map(([name, value]) => (name === "Authorization" ? "Authorization: `Bearer ${process.env.ADMIN_TOKEN}`" : `${JSON.stringify(name)}: ${JSON.stringify(value)}`));
  const parts = [`method: ${JSON.stringify(method)}`, `headers: { ${fields.join(", ")} }`, ...(body ? [`body: ${indent(JSON.stringify(body))}`] : [])];
  return [`const reply = await fetch(${JSON.stringify(location.origin + url)}, {`, ...parts.map((part) => `  ${part},`), "});", "if (!reply.ok) throw new Error(await reply.text());", /json/.test(headers.Accept) ? "console.log(await reply.json());" : "console.log(await reply.text());"].join("\n");
}

export const LANGUAGES = [["curl", "curl", toCurl], ["python", "Python", toPython], ["javascript", "JavaScript", toJavaScript]];
