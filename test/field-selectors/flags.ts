/** Of both servers: every version is served, and no plugin comes between that waits for controllers. */
export const flags = ['--runtime-config=api/all=true', '--disable-admission-plugins=ServiceAccount'];
