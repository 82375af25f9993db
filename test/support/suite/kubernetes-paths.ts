// Lists the tests that need a Kubernetes: `make test` leaves them out.

/** In a node of their own, one file after another. */
export const CLUSTER_PATHS: readonly string[] = ['test/cluster/']

/** With a control plane. */
export const CONTROL_PLANE_PATHS: readonly string[] = [
  'test/component/kubernetes/',
  'test/helm/cluster',
  'test/helm/metrics',
]
