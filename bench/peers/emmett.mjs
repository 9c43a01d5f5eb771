// emmett on SQLite: `node emmett.mjs FILE EVENTS` stores one game of so many moves, then folds it each time it is asked.
// `fold` reads the stream; `rebuild` has a consumer tell a processor every event, as a projection is built anew.
// The answer is the number of moves in what was folded.
import { createServer } from "node:net";
import { getSQLiteEventStore } from "@event-driven-io/emmett-sqlite";
import { say } from "./rules.mjs";

const AT_ONCE = 500;
const [fileName, count] = [process.argv[2], Number(process.argv[3])];
const store = getSQLiteEventStore({ fileName, schema: { autoMigration: "CreateOrUpdate" } });
for (let at = 0; at < count; at += AT_ONCE) {
  const numbers = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, each) => at + each);
  const events = numbers.map((number) => ({ type: "Moved", data: { number, seat: number % 2, card: number % 50 } }));
  await store.appendToStream("game", events);
}

const initialState = () => ({ number: 0, cards: [0, 0] });
function evolve(state, { type, data }) {
  switch (type) {
    case "Moved":
      state.number = data.number + 1;
      state.cards[data.seat] += data.card;
      return state;
  }
}

async function folded() {
  return (await store.aggregateStream("game", { evolve, initialState })).state;
}

let rebuilds = 0;
async function rebuilt() {
  let state = initialState();
  const consumer = store.consumer({ pulling: { batchSize: AT_ONCE } });
  consumer.processor({
    processorId: `rebuild ${(rebuilds += 1)}`,
    startFrom: "BEGINNING",
    eachMessage: (event) => void (state = evolve(state, event)),
    stopAfter: () => state.number === count,
  });
  await consumer.start();
  await consumer.stop();
  return state;
}

const server = createServer((socket) =>
  socket.on("data", async (line) => {
    const { number } = await (line.toString().trim() === "rebuild" ? rebuilt() : folded());
    socket.write(`${number}\n`);
  }),
);
server.listen(0, "127.0.0.1", () => say(server.address()));
