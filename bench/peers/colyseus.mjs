// Colyseus, nothing stored: a room of two, and a move broadcast to both. As rooms are written in its guide, by messages;
// a synchronised state beside them would only add to what is told.
import { Room, Server } from "@colyseus/core";
import { WebSocketTransport } from "@colyseus/ws-transport";
import { fresh, moved, say } from "./rules.mjs";

class Table extends Room {
  onCreate() {
    this.maxClients = 2;
    this.game = fresh();
    this.onMessage("move", (client, move) => {
      const seat = this.clients.indexOf(client);
      if (!moved(this.game, seat, move)) return client.send("refused");
      this.broadcast("moved", { number: move.number, seat, card: move.card });
    });
  }
}

// Nobody is asked whether he is still there: the other sides of the bench have their turns, too.
const transport = new WebSocketTransport({ pingInterval: 0 });
const server = new Server({ transport, greet: false });
server.define("table", Table);
await server.listen(0, "127.0.0.1");
say(transport.server.address());
