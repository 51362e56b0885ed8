// The operator's token: kept in memory by api.js, and nowhere else.
import { getJson, signIn } from "./api.js";
import { complain, field, h } from "./dom.js";

export function signInForm(onSignedIn) {
  const token = h("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true });
  const button = h("button", { class: "primary" }, "Sign in");

  async function submit(event) {
    event.preventDefault();
    complain(token);
    if (!token.value.trim()) return complain(token, "Type the token first.");
    button.disabled = true;
    signIn(token.value.trim());
    try {
      const { zones } = await getJson("/api/v1/zones");
      onSignedIn(zones.sort());
    } catch (error) {
      signIn("");
      complain(token, error.status === 401 ? "This is not the token." : error.message);
      token.focus();
    } finally {
      button.disabled = false;
    }
  }

  return h(
    "form",
    { class: "card narrow", novalidate: true, onsubmit: submit },
    h("h2", {}, "Sign in"),
    field("Admin token", token, "The value of the variable ADMIN_TOKEN. It stays in the memory of this page: gone when you leave or reload it."),
    h("div", { class: "row" }, button),
  );
}
