// Watch a game from Node.js, until it is over. Every event is chained here, so nothing can be left out or changed unseen.
//
//     node examples/watch.mjs ws://127.0.0.1:8000/ws GAME
//
// docs/protocol.md explains the messages, docs/audit.md the hashes. Node.js 22 has a WebSocket of its own; before, `npm install ws`.
import { createHash } from "node:crypto";

const WebSocket = globalThis.WebSocket ?? (await import("ws")).default;
const [url, game] = process.argv.slice(2);
if (!game) stop("usage: watch.mjs ws://HOST:PORT/ws GAME");

const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const bytes = (base64) => Buffer.from(base64, "base64");

// What we hold: how many events, and the hash that chains them all.
let version = 0;
let chained = sha256(Buffer.from("statecraft game v1\0"), Buffer.from(game, "hex"));
connect();

function connect() {
  const socket = new WebSocket(url, "statecraft.v1.json");
  // Whatever happened meanwhile comes now: we say what we hold.
  socket.onopen = () => socket.send(JSON.stringify({ type: "subscribe", topic: `game/${game}`, after: [version, chained.toString("base64")] }));
  socket.onmessage = ({ data }) => take(JSON.parse(data));
  socket.onerror = () => {}; // A close follows.
  socket.onclose = () => setTimeout(connect, 500 + 500 * Math.random());
}

function take(message) {
  if (message.type === "not_subscribed") stop(`not watched: ${message.reason}`);
  if (message.type === "forked" || message.type === "subscribed" && !message.recovered) stop(`the server now tells another history than the ${version} events seen so far`);
  if (message.type !== "events") return;
  for (const { body, fact } of message.events) {
    chained = sha256(Buffer.from("statecraft event v1\0"), chained, bytes(body));
    version += 1;
    const { type, ...fields } = fact;
    console.log(version, type, JSON.stringify(fields));
  }
  if (version !== message.version || !chained.subarray(0, 8).equals(bytes(message.hash8))) stop(`what came doesn't chain up to event ${message.version}`);
  // The table is missing where more follows at once.
  if (!message.table?.finished) return;
  console.log("over:", message.table.finished);
  process.exit();
}

function stop(why) {
  console.error(why);
  process.exit(1);
}
