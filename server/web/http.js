// The few HTTP addresses of docs/protocol.md. The only place that calls fetch.

/** An answer that is an error: the server's code and its sentence. */
export class Declined extends Error {
  /** @param {number} status @param {string} code @param {string} what */
  constructor(status, code, what) {
    super(what);
    this.status = status;
    this.code = code;
  }
}

/**
 * @param {"GET" | "POST" | "PUT" | "DELETE"} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<Response>} only answers that are no errors
 * @throws {Declined | TypeError} TypeError: there was no answer
 */
async function answer(method, path, body) {
  const headers = body === undefined ? undefined : { "Content-Type": "application/json" };
  const response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new Declined(response.status, told.error ?? `http_${response.status}`, told.what ?? `The server answered ${response.status}.`);
}

/** @param {string} path @returns {Promise<any>} */
export const get = async (path) => (await answer("GET", path)).json();
/** @param {string} path @returns {Promise<string>} */
export const getText = async (path) => (await answer("GET", path)).text();
/** @param {string} path @param {unknown} body @returns {Promise<any>} */
export const post = async (path, body) => (await answer("POST", path, body)).json();
/** @param {string} path @param {unknown} body @returns {Promise<any>} */
export const put = async (path, body) => (await answer("PUT", path, body)).json();
/** @param {string} path @returns {Promise<any>} */
export const remove = async (path) => (await answer("DELETE", path, {})).json();
