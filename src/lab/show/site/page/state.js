// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Where the reader is, in the URL's fragment, so that a link shows what its sender saw:
// #/view/name?key=value&…

export function read() {
  const fragment = location.hash.replace(/^#\/?/, "");
  const [path, query = ""] = fragment.split("?", 2);
  const [view, name = ""] = path.split("/").map(decode);
  return {view: view || "overview", name, parameters: new URLSearchParams(query)};
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function link(view, name, parameters) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters || {})) {
    if (value !== undefined && value !== null && value !== "") query.set(key, value);
  }
  const text = query.toString();
  return "#/" + view + (name ? "/" + encodeURIComponent(name) : "") + (text ? "?" + text : "");
}

// Changes parameters without a new entry in the browser's history; an empty value removes one.
export function set(changes) {
  const {view, name, parameters} = read();
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === null || value === "")
      parameters.delete(key);
    else
      parameters.set(key, value);
  }
  const text = parameters.toString();
  history.replaceState(
      null, "", "#/" + view + (name ? "/" + encodeURIComponent(name) : "") + (text ? "?" + text : ""));
}

export const get = (key, otherwise = "") => read().parameters.get(key) ?? otherwise;
