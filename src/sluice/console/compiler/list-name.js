// The name of a list in its addresses, suggested from its title.

const MAX_CHARS = 64;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
// Letters that Unicode does not split into a Latin letter and its marks, or that are written otherwise without the mark.
const LETTERS = { ä: "ae", ö: "oe", ü: "ue", ß: "ss", æ: "ae", œ: "oe", ø: "oe", þ: "th", ð: "d", đ: "d", ħ: "h", ı: "i", ł: "l", ŧ: "t" };

export const isListName = (name) => NAME.test(name);

// The title in plain letters, such as "buecher" for "Bücher". Empty if nothing of it can be written so: the person is asked then.
export function suggestListName(title) {
  const written = title.normalize("NFC").toLowerCase().replace(/\p{L}/gu, (letter) => LETTERS[letter] ?? letter);
  const plain = written.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, "-").replace(/^-/, "").slice(0, MAX_CHARS).replace(/-$/, "");
}
