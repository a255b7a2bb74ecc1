export function writeTypesIfStale(node: string): void;
