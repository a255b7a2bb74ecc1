/** Whether this platform spreads the connections of a port over all that listen on it. */
export const sharesPorts = process.platform === 'linux' || process.platform === 'freebsd';
