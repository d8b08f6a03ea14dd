import { bridge, WarmPool as BridgePool } from "@cloudflare/sandbox/bridge";
import { operatorRoutes, withAssignments } from "./operator-routes.mjs";

export { Sandbox } from "@cloudflare/sandbox";
export class WarmPool extends withAssignments(BridgePool) {}

// The bridge answers below /v1 and /health itself, and hands on what else is asked.
export default bridge({
  fetch: (request, env) =>
    operatorRoutes({ key: env.SANDBOX_API_KEY, pool: env.WarmPool.get(env.WarmPool.idFromName("global-pool")), objects: env.Sandbox })(request),
});
