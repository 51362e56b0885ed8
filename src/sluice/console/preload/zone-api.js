// The calls about one zone.
import { getJson, sendJson } from "../ui/api.js";

export const listZones = async (token) => (await getJson("/api/v1/zones", token ? { token } : {})).zones.sort();

export function openZone(id) {
  const path = (name) => `/api/v1/zones/${encodeURIComponent(id)}/${name}`;
  return {
    id,
    get: (name) => getJson(path(name)),
    send: (name, body = {}) => sendJson(path(name), body),
    put: (name, body) => sendJson(path(name), body, { method: "PUT" }),
    remove: (name, body) => sendJson(path(name), body, { method: "DELETE" }),
  };
}

// Runs an action of a person: its outcome or its error becomes a notice.
export async function act(setNotice, work) {
  try {
    setNotice({ kind: "good", text: await work() });
    return true;
  } catch (error) {
    setNotice({ kind: "bad", text: error.summary ?? error.message });
    return false;
  }
}
