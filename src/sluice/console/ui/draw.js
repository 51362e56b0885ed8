// Draws pages from state: preact's elements, written as templates. Texts become text nodes, so no text of a service can become markup.
import { h } from "../libraries/preact.js";
import htm from "../libraries/htm.js";

export { Fragment, createRef, render } from "../libraries/preact.js";
export { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "../libraries/hooks.js";
export const html = htm.bind(h);

let counter = 0;
export const makeId = (prefix) => `${prefix}-${(counter += 1)}`;

export const formatNumber = (value) => value.toLocaleString("en");
export const countOf = (count, noun, nouns = `${noun}s`) => `${formatNumber(count)} ${count === 1 ? noun : nouns}`;
