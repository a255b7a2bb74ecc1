export function findReference(name: 'etcd' | 'kube-apiserver' | 'kubectl'): string | undefined;
