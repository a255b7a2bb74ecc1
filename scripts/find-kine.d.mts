export function findKine(): string | undefined;
