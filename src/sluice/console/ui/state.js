// State that outlives a drawing: the page's address, the browser's storage, data that is fetched again and again.
import { useEffect, useRef, useState } from "./draw.js";
import { readToken } from "./api.js";

// A person may type any address: a % that encodes nothing stands for itself.
function decodeHash(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// The part of the address after #, such as "lists/ads", and a function that goes there. The Back button returns.
export function useHash() {
  const read = () => decodeHash(location.hash.slice(1));
  const [hash, setHash] = useState(read);
  useEffect(() => {
    const update = () => setHash(read());
    addEventListener("hashchange", update);
    addEventListener("popstate", update);
    return () => {
      removeEventListener("hashchange", update);
      removeEventListener("popstate", update);
    };
  }, []);
  const go = (next) => {
    if (next === read()) return;
    history.pushState(null, "", next ? `#${next}` : location.pathname + location.search);
    setHash(next);
  };
  return [hash, go];
}

// A value in the browser's storage. A window that has none keeps the value as long as the page.
export function useStored(key, initial) {
  const [value, setValue] = useState(() => recall(key) ?? initial);
  const store = (next) => {
    setValue((before) => {
      const after = typeof next === "function" ? next(before) : next;
      remember(key, after);
      return after;
    });
  };
  return [value, store];
}

export function recall(key) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? undefined;
  } catch {
    return undefined;
  }
}

// Returns whether the browser took the value: it may have no room, or no storage.
export function remember(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

// Fetches data now and every few seconds while the page is visible. An error stands beside the last good data.
// `key` names what is fetched: with another key the old data goes away.
export function usePolling(fetchData, seconds, key = "") {
  const [state, setState] = useState({ data: undefined, error: undefined });
  const polling = useRef(() => {});
  useEffect(() => {
    let timer = 0;
    let controller = new AbortController();
    const stop = () => {
      clearTimeout(timer);
      controller.abort();
    };
    const run = async () => {
      stop();
      controller = new AbortController();
      const { signal } = controller;
      if (!document.hidden) {
        try {
          const data = await fetchData({ signal });
          if (!signal.aborted) setState({ data, error: undefined });
        } catch (error) {
          if (!signal.aborted) setState(({ data }) => ({ data, error }));
        }
      }
      if (!signal.aborted && seconds) timer = setTimeout(run, seconds * 1000);
    };
    setState({ data: undefined, error: undefined });
    polling.current = run;
    run();
    document.addEventListener("visibilitychange", run);
    return () => {
      stop();
      document.removeEventListener("visibilitychange", run);
    };
  }, [key]);
  return { ...state, refresh: () => polling.current() };
}

// Whether an operator is signed in; changes when they sign in or their token is refused.
export function useToken() {
  const [token, setToken] = useState(readToken);
  useEffect(() => {
    const update = () => setToken(readToken());
    addEventListener("signed", update);
    return () => removeEventListener("signed", update);
  }, []);
  return token;
}

// The value as it was when it last stood still for a moment.
export function useSettled(value, delay_ms) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delay_ms);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
