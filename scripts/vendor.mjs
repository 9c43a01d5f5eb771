// Copies what the page needs from node_modules into server/web/vendor (or the folder named as argument), with licences.
// The page is served without a build, so the copies are committed; a test holds them against the locked packages.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const top = fileURLToPath(new URL("..", import.meta.url));
const out = process.argv[2] ?? join(top, "server", "web", "vendor");

const from = (...path) => join(top, "node_modules", ...path);
const version = (name) => JSON.parse(readFileSync(from(name, "package.json"), "utf8")).version;

function write(path, text) {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), text);
}

function copy(source, path) {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  copyFileSync(source, join(out, path));
}

/** One module out of the package's one-file build: as ES modules it is a dozen files and more, each a request. */
function msgpack() {
  const name = "@msgpack/msgpack";
  const build = readFileSync(from(name, "dist.umd", "msgpack.min.js"), "utf8").replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "");
  write(
    "msgpack/msgpack.js",
    `/*! ${name} ${version(name)}, ISC, see LICENSE beside this file. The package's own build between two lines that make it a module. */
const scope = {}; (function () {
${build}
}).call(scope);
export const { encode, decode, decodeMulti, decodeAsync, decodeArrayStream, decodeMultiStream, Decoder, DecodeError, Encoder, ExtensionCodec, ExtData, EXT_TIMESTAMP } = scope.MessagePack;
`,
  );
  write(
    "msgpack/msgpack.d.ts",
    `export { encode, decode, decodeMulti, decodeAsync, decodeArrayStream, decodeMultiStream, Decoder, DecodeError, Encoder, ExtensionCodec, ExtData, EXT_TIMESTAMP } from "${name}";\n`,
  );
  copy(from(name, "LICENSE"), "msgpack/LICENSE");
}

/** SHA-256, HMAC and Ed25519, as the packages have them: WebCrypto is missing where a page comes over plain HTTP, and never answers at once. */
function noble() {
  const curve = "@noble/ed25519";
  const signatures = readFileSync(from(curve, "index.js"), "utf8");
  write("noble/ed25519.js", `/*! ${curve} ${version(curve)}, MIT, see LICENSE beside this file. */\n${signatures}`);
  write("noble/ed25519.d.ts", `export * from "${curve}";\n`);
  const name = "@noble/hashes";
  for (const file of ["sha2", "hmac", "utils", "_md", "_u64"]) {
    const source = readFileSync(from(name, `${file}.js`), "utf8");
    write(`noble/${file}.js`, `/*! ${name} ${version(name)}, MIT, see LICENSE beside this file. */\n${source}`);
  }
  for (const file of ["sha2", "hmac"]) write(`noble/${file}.d.ts`, `export * from "${name}/${file}.js";\n`);
  copy(from(name, "LICENSE"), "noble/LICENSE");
}

/** lit-html draws the views: its files as published, and of its directives `repeat` alone. */
function lit() {
  const name = "lit-html";
  for (const file of ["lit-html", "directive", "directive-helpers", "directives/repeat"]) {
    const source = readFileSync(from(name, `${file}.js`), "utf8").replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");
    write(`lit/${file}.js`, `/*! ${name} ${version(name)}, BSD-3-Clause, see LICENSE beside this file. */\n${source}`);
  }
  write("lit/lit-html.d.ts", `export * from "${name}";\n`);
  write("lit/directives/repeat.d.ts", `export * from "${name}/directives/repeat.js";\n`);
  copy(from(name, "LICENSE"), "lit/LICENSE");
}

/** The Latin part of a variable font, and a style sheet of one rule for it. */
function font({ name, family, file, folder, weights }) {
  const css = readFileSync(from(name, `${file.axes}.css`), "utf8");
  const source = `${file.stem}-latin-${file.axes}-normal`;
  const range = css.slice(css.indexOf(`/* ${source} */`)).match(/unicode-range: ([^;]+);/)[1];
  write(
    `${folder}/fonts.css`,
    `/* ${name} ${version(name)}, OFL-1.1, see LICENSE beside this file. Letters outside Latin fall back to the system's. */
@font-face {
  font-family: "${family}";
  font-style: normal;
  font-display: swap;
  font-weight: ${weights};
  src: url("${source}.woff2") format("woff2");
  unicode-range: ${range};
}
`,
  );
  copy(from(name, "files", `${source}.woff2`), `${folder}/${source}.woff2`);
  copy(from(name, "LICENSE"), `${folder}/LICENSE`);
}

if (!process.argv[2]) rmSync(out, { recursive: true, force: true }); // a file no longer copied must not linger
msgpack();
noble();
lit();
font({ name: "@fontsource-variable/inter", family: "Inter", file: { stem: "inter", axes: "wght" }, folder: "inter", weights: "100 900" });
font({ name: "@fontsource-variable/fraunces", family: "Fraunces", file: { stem: "fraunces", axes: "opsz" }, folder: "fraunces", weights: "100 900" });
