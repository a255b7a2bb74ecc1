export function findReference(name: 'etcd' | 'kube-apiserver' | 'kine' | 'kubectl'): string | undefined;
