export const wheelFolder: string;
export function findRedisServers(): string[];
export function findRedisServer(): string | undefined;
export function hasWaitAof(binary: string): boolean;
