// Serves the documented Worker over a bridge and objects that behave as those of @cloudflare/sandbox 0.12.10 do:
// node cloudflare_routes.mjs DIRECTORY, where DIRECTORY holds a copy of the example and node_modules. It prints its port and ends
// with its standard input.
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const { default: worker, WarmPool } = await import(pathToFileURL(join(process.argv[2], "worker.mjs")));

let started = 0;
const states = { "u-a": { status: "healthy", lastChange: 1795246180516 }, "u-b": { status: "stopped_with_code", lastChange: 1795246180600, exitCode: 137 } };
class Sandbox {
  constructor(name) {
    this.name = name;
  }
  async getState() {
    if (!states[this.name]) throw new Error("this object cannot be asked");
    return states[this.name];
  }
  async listProcesses() {
    if (states[this.name].status !== "healthy") started++;
    return [{ id: "p1", pid: 7, command: "npm run dev", status: "running", startTime: "2026-11-21T07:29:40.000Z", kill: async () => {} }];
  }
  async stop() {
    if (states[this.name].status !== "healthy") started++;
    states[this.name] = { status: "stopped", lastChange: Date.now() };
  }
}
const pool = new WarmPool();
const assigned = [["bbbb", "u-b"], ["aaaa", "u-a"], ["cccc", "u-c"]];
for (let n = 0; n < 250; n++) assigned.push([`z${"abcdefghij"[Math.floor(n / 100)]}${"abcdefghij"[Math.floor(n / 10) % 10]}${"abcdefghij"[n % 10]}`, "u-b"]);
pool.fill(assigned);
const env = {
  SANDBOX_API_KEY: process.argv[3],
  WarmPool: { idFromName: (name) => name, get: (id) => (id === "global-pool" ? pool : undefined) },
  Sandbox: { idFromName: (name) => ({ toString: () => Buffer.from(name.padEnd(32, "0")).toString("hex"), name }), get: (id) => new Sandbox(id.name) },
};
const server = createServer(async (req, res) => {
  const answer = await worker.fetch(new Request(`http://edge${req.url}`, { method: req.method, headers: { authorization: req.headers.authorization ?? "" } }), env);
  res.writeHead(answer.status, { ...Object.fromEntries(answer.headers), "x-started": started }).end(await answer.text());
});
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
process.stdin.on("end", () => process.exit(0)).resume();
