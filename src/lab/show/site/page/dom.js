// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Elements from code. Text only ever becomes text nodes and attribute values: nothing here, and
// nothing that uses it, parses HTML.

// h("a", {class: "x", href: "#", onclick: f}, "text", child, [more children])
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function")
      element.addEventListener(name.slice(2), value);
    else
      element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child))
      append(element, child);
    else if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
  }
}

// A labelled choice. options: [[value, text], …].
export function choice(label, options, value, onchange, id) {
  const select =
      h("select", {id, onchange: (event) => onchange(event.target.value)},
        options.map(([key, text]) => h("option", {value: key, selected: key === value}, text)));
  return h("label", {class: "choice"}, h("span", {}, label), select);
}

export function section(title, ...children) {
  return h("section", {class: "card"}, h("h2", {}, title), ...children);
}

// What to do when there is nothing to show.
export function empty(text, ...commands) {
  return h(
      "div", {class: "empty"}, h("p", {}, text),
      commands.map((command) => h("pre", {}, h("code", {}, command))));
}
