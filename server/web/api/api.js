// The page that shows the two descriptions, OpenAPI and AsyncAPI, without a network beyond this server.
import { html, nothing, render } from "../vendor/lit/lit-html.js";

/** @typedef {Record<string, any>} Schema */

async function start() {
  const main = /** @type {HTMLElement} */ (document.getElementById("main"));
  const [http, socket] = await Promise.all(["openapi", "asyncapi"].map(fetched));
  main.replaceChildren();
  if (!http || !socket) {
    main.textContent = "The server didn’t answer. Load the page again in a moment.";
    return;
  }
  render(page(http, socket), main);
  reveal();
  addEventListener("hashchange", reveal);
}

/** @param {string} name @returns {Promise<Schema | null>} */
async function fetched(name) {
  try {
    return await (await fetch(`/api/${name}.json`)).json();
  } catch {
    return null;
  }
}

/** An address that names something opens it. */
function reveal() {
  const named = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  if (!(named instanceof HTMLDetailsElement)) return;
  named.open = true;
  named.scrollIntoView();
}

/** @param {Schema} http @param {Schema} socket */
function page(http, socket) {
  const types = /** @type {[string, Schema][]} */ (Object.entries(socket.components.schemas));
  const rest = types.filter(([name]) => !(name in socket.components.messages));
  return html`
    <div class="sheet prose api">
      <h1>For programs</h1>
      <p class="lead">Everything the page does, a program can do: over one WebSocket and a few addresses.</p>
      <p>The same for machines: <a href="/api/openapi.json">openapi.json</a>, <a href="/api/asyncapi.json">asyncapi.json</a>.</p>
      <h2>The messages</h2>
      <p>${socket.info.description}</p>
      ${Object.values(socket.operations).map((operation) => html`
        <section>
          <h3>${operation.summary}</h3>
          ${operation.messages.map((/** @type {Schema} */ each) => message(socket, last(each.$ref)))}
        </section>
      `)}
      <h2>What they hold</h2>
      ${rest.map(([name, schema]) => entry(name, name, schema.description, type(schema)))}
      <h2>The addresses</h2>
      ${Object.entries(http.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => address(path, method, operation)))}
      <h2>What they answer</h2>
      ${Object.entries(http.components.schemas).map(([name, schema]) => entry(`http-${name}`, name, schema.description, type(schema, "http-")))}
    </div>
  `;
}

/** @param {string} id @param {string} name @param {string | undefined} what @param {unknown} content */
const entry = (id, name, what, content) => html`
  <details id=${id}><summary><span class="name">${name}</span><span class="what">${what?.split("\n")[0] ?? ""}</span></summary>${content}</details>
`;

/** @param {Schema} socket @param {string} name */
function message(socket, name) {
  const { name: tag, summary } = socket.components.messages[name];
  return entry(name, tag, summary, type(socket.components.schemas[name]));
}

/** @param {string} path @param {string} method @param {Schema} operation */
function address(path, method, operation) {
  const { parameters, requestBody, responses, summary, security } = operation;
  return entry(`${method} ${path}`, `${method.toUpperCase()} ${path}`, summary, html`
    ${security ? html`<p class="what">Who asks is told by a cookie, or by <code>Authorization: Bearer</code>.</p>` : nothing}
    ${parameters.length ? html`<h3>Asked with</h3><div class="fields type">${parameters.map((/** @type {Schema} */ each) => html`<div><b>${each.name}</b> <i>in ${each.in}</i> ${type(each.schema)}</div>`)}</div>` : nothing}
    ${requestBody ? html`<h3>Body</h3>${contents(requestBody.content)}` : nothing}
    ${Object.entries(responses).map(([status, response]) => html`<h3>${status}</h3><p class="what">${response.description}</p>${contents(response.content)}`)}
  `);
}

/** @param {Record<string, Schema>} [content] */
const contents = (content = {}) => Object.entries(content).map(([media, { schema }]) => html`<p class="type">${media === "application/json" ? type(schema, "http-") : media}</p>`);

/** A type in words and links. @param {Schema} schema @param {string} [prefix] of the ids that links lead to @returns {unknown} */
function type(schema, prefix = "") {
  const inner = (/** @type {Schema} */ each) => type(each, prefix);
  if (schema.$ref) return html`<a href="#${prefix}${last(schema.$ref)}">${last(schema.$ref)}</a>`;
  if (schema.anyOf) return between(schema.anyOf.map(inner), " or ");
  if (schema.allOf) return between(schema.allOf.map(inner), " with ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return between(schema.enum.map((/** @type {unknown} */ each) => JSON.stringify(each)), " | ");
  if (schema.prefixItems) return html`[${between(schema.prefixItems.map(inner), ", ")}]`;
  if (schema.type === "array") return html`list of ${schema.items ? inner(schema.items) : "anything"}`;
  if (schema.properties) return fields(schema, prefix);
  if (schema.type === "object") return html`object${typeof schema.additionalProperties === "object" ? html` of ${inner(schema.additionalProperties)}` : nothing}`;
  const bounds = [
    schema.contentEncoding,
    schema.minimum === undefined ? null : `${schema.minimum} to ${schema.maximum ?? "any"}`,
    schema.contentEncoding ? null : schema.pattern,
    schema.maxLength === undefined || schema.contentEncoding ? null : `${schema.minLength ?? 0} to ${schema.maxLength} characters`,
  ].filter(Boolean);
  return html`${schema.type}${bounds.length ? html` <i>(${bounds.join(", ")})</i>` : nothing}`;
}

/** @param {Schema} schema @param {string} prefix */
function fields({ properties, required = [] }, prefix) {
  return html`
    <div class="fields type">
      ${Object.entries(properties).map(([name, schema]) => html`<div><b>${name}</b>${required.includes(name) ? nothing : html` <i>may be left out</i>`} ${type(schema, prefix)}</div>`)}
    </div>
  `;
}

/** @param {unknown[]} parts @param {string} joint */
const between = (parts, joint) => parts.map((part, at) => html`${at ? joint : ""}${part}`);

/** @param {string} reference */
const last = (reference) => reference.slice(reference.lastIndexOf("/") + 1);

void start();
