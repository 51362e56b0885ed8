// The sign-in with the operator's token, which only api.js holds in memory.
import { getJson, signIn } from "./api.js";
import { showFieldError, field, h } from "./dom.js";

export function signInForm(onSignedIn) {
  const token = h("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true });
  const button = h("button", { class: "primary" }, "Sign in");

  async function submit(event) {
    event.preventDefault();
    showFieldError(token);
    if (!token.value.trim()) return showFieldError(token, "Enter the token first.");
    button.disabled = true;
    signIn(token.value.trim());
    try {
      const { zones } = await getJson("/api/v1/zones");
      onSignedIn(zones.sort());
    } catch (error) {
      signIn("");
      showFieldError(token, error.status === 401 ? "This token is wrong. Enter the value of the variable ADMIN_TOKEN." : error.message);
      token.focus();
    } finally {
      button.disabled = false;
    }
  }

  return h(
    "form",
    { class: "card narrow", novalidate: true, onsubmit: submit },
    h("h2", {}, "Sign in"),
    field("Admin token", token, "The value of the variable ADMIN_TOKEN. It stays in the memory of this page until you leave or reload it."),
    h("div", { class: "row" }, button),
  );
}
