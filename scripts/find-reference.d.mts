export function findReference(name: 'etcd' | 'kube-apiserver'): string | undefined;
