import type { SpecialHandlers } from '#apiserver/endpoints/installer';

export const specialHandlers: SpecialHandlers = new Map();
