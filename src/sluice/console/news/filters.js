// The filters as a value. They are part of the page's address, so that a view can be shared.
import { useEffect, useState } from "../ui/draw.js";

export const SENTIMENTS = ["positive", "negative", "neutral", "unknown"];
export const EMPTY = { q: "", source: "", language: "", from: "", to: "", status: "", sentiment: [] };
const FIELDS = ["q", "source", "language", "from", "to", "status"];

function readAddress() {
  const params = new URLSearchParams(location.search);
  const sentiment = (params.get("sentiment") ?? "").split(",").filter((name) => SENTIMENTS.includes(name));
  return { ...Object.fromEntries(FIELDS.map((name) => [name, params.get(name) ?? ""])), sentiment };
}

// The query of the API for the filters; `more` adds to them or takes away.
export function toQuery(filters, more = {}) {
  const values = { ...filters, sentiment: filters.sentiment.join(","), ...more };
  const pairs = Object.entries(values).map(([name, value]) => [name, String(value ?? "").trim()]);
  return new URLSearchParams(pairs.filter(([, value]) => value)).toString();
}

// A limit in time is a day, such as 2026-01-31, or a time of that day, such as 2026-01-31T09:00:00Z.
export const isDay = (text) => text.length === 10;

export const countFilters = ({ q, ...others }) => Object.values(others).filter((value) => value.length > 0).length;

export function useFilters() {
  const [filters, setFilters] = useState(readAddress);
  const query = toQuery(filters);
  useEffect(() => {
    history.replaceState(null, "", `${location.pathname}${query && `?${query}`}${location.hash}`);
  }, [query]);
  useEffect(() => {
    const update = () => setFilters(readAddress());
    addEventListener("popstate", update);
    return () => removeEventListener("popstate", update);
  }, []);
  return [filters, setFilters];
}
