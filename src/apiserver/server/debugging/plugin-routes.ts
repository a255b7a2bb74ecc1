import { Buffer } from 'node:buffer';
import { respondBytes } from '#apiserver/endpoints/handlers/responses';
import type { PathMux } from '#apiserver/endpoints/path-mux';

/** Serves `/debug/plugins`, the contributions of packages, as JSON. Access is controlled by RBAC like that of other paths. */
export function installPluginReports(mux: PathMux, reports: () => readonly object[]): void {
  mux.handle(
    '/debug/plugins',
    (context) => respondBytes(context, 200, 'application/json', Buffer.from(`${JSON.stringify({ plugins: reports() })}\n`)),
    false,
  );
}
