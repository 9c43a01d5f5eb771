// socket.io, each move stored before it is told: `node socketio.mjs FILE`. A commit each, with a full fsync.
// It leaves out whatever a real game would add: who a player is, a hand, an answer to a move sent twice.
import { createServer } from "node:http";
import Database from "better-sqlite3";
import { Server } from "socket.io";
import { fresh, moved, say } from "./rules.mjs";

const store = new Database(process.argv[2]);
store.pragma("journal_mode = WAL");
store.pragma("synchronous = FULL");
store.exec("CREATE TABLE moves (game TEXT, number INTEGER, card INTEGER, PRIMARY KEY (game, number)) WITHOUT ROWID");
const append = store.prepare("INSERT INTO moves VALUES (?, ?, ?)");
const games = new Map();

const http = createServer();
// Nobody is asked whether he is still there: the other sides of the bench have their turns, too.
const io = new Server(http, { transports: ["websocket"], perMessageDeflate: false, pingInterval: 600_000 });
io.on("connection", (socket) => {
  socket.on("join", (name, seat) => {
    if (!games.has(name)) games.set(name, fresh());
    socket.join(name);
    Object.assign(socket.data, { name, seat });
    socket.emit("joined");
  });
  socket.on("move", (move) => {
    const { name, seat } = socket.data;
    if (!moved(games.get(name), seat, move)) return socket.emit("refused");
    append.run(name, move.number, move.card);
    io.to(name).emit("moved", { number: move.number, seat, card: move.card });
  });
});
http.listen(0, "127.0.0.1", () => say(http.address()));
