// Plain `ws`: a message `UPDATES BYTES` is answered with so many broadcasts to everybody, in one tick.
import { WebSocketServer } from "ws";
import { say } from "./rules.mjs";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("listening", () => say(server.address()));
server.on("connection", (connection) =>
  connection.on("message", (message) => {
    const [updates, size] = message.toString().split(" ").map(Number);
    for (let update = 0; update < updates; update += 1) {
      const frame = Buffer.alloc(size);
      for (const each of server.clients) each.send(frame);
    }
  }),
);
