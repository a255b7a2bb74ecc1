export function stateOf(source: string): string[];
export function documentedState(text: string): string[];
