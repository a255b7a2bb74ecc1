/** Flags of both servers: every version is served, and plugins that depend on controllers are disabled. */
export const flags = ['--runtime-config=api/all=true', '--disable-admission-plugins=ServiceAccount'];
