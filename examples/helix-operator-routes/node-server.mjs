import { createServer } from "node:http";
import { operatorRoutes } from "./operator-routes.mjs";

// runs.page(cursor, limit) is your own table of runs.
export function operatorServer({ executor, runs, readToken, actToken }) {
  const handle = operatorRoutes({
    readToken,
    actToken,
    registryOf: (id) => executor.getWorkspaceRegistry(id), // undefined while no loop is active
    list: async (cursor) => {
      const page = await runs.page(cursor, 1000);
      return { sessions: page.rows.map(({ id, status, tenant }) => ({ sessionId: id, status, tenant })), next: page.next ?? null };
    },
  });
  return createServer(async (req, res) => {
    const request = new Request(`http://operator${req.url}`, { method: req.method, headers: { authorization: req.headers.authorization ?? "" } });
    const answer = await handle(request);
    res.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
}
