export const wheelFolder: string;
export function findRedisServers(): string[];
export function findRedisServer(): string | undefined;
export function findRedisVersions(): Map<string, string>;
export function hasWaitAof(binary: string): boolean;
