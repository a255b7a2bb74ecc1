import type { Container } from 'kubenest/types/core_v1';

// mistake: a container has a name
export const proxy: Container = { image: 'registry.example.com/proxy:1.0' };
