export function findRedisServer(): string | undefined;
