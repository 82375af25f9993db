// Gives the directory of Kubernetes' programs, and builds them with Go into a cache outside the checkout when they are
// nowhere yet. What is built already is not checked again.

import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { buildOnce, compile } from './go-build.ts'
import {
  builtDirectory,
  findPrograms,
  goModule,
  PROGRAMS,
  RECIPE_DIRECTORY,
  type Wanted,
  WHOLE_PROGRAM,
} from './kube-recipe.ts'

/**
 * With Go's own cache cold it takes 5 minutes on two cores and 2.7 GB of memory, warm half a minute, with a line on
 * stderr every 20 s. Throws with the compiler's last lines.
 */
export const buildKube = async (wanted: Wanted = {}): Promise<string> => {
  const found = findPrograms(wanted)
  if (found !== undefined) return found
  const directory = builtDirectory()
  const isBuilt = (): boolean => findPrograms(wanted) !== undefined
  await buildOnce({ directory, isBuilt, make: build })
  return directory
}

const build = async (work: string): Promise<void> => {
  const what = `Kubernetes ${goModule().versionOf('k8s.io/kubernetes')}`
  const [module, output] = [RECIPE_DIRECTORY, WHOLE_PROGRAM]
  const values = linkerValues()
  const takes = 'about 5 minutes'
  await compile({ what, takes, module, packages: ['./kube'], output, values }, work)
  for (const name of PROGRAMS) await symlink(WHOLE_PROGRAM, join(work, name))
}

/** What release builds of Kubernetes say of themselves: clients and servers compare it. */
const linkerValues = (): readonly string[] => {
  const { versionOf } = goModule()
  const kubernetes = versionOf('k8s.io/kubernetes')
  const [major = '', minor = ''] = kubernetes.split('.')
  const values = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap(
    (path) => [
      `${path}.gitVersion=v${kubernetes}`,
      `${path}.gitMajor=${major}`,
      `${path}.gitMinor=${minor}`,
      `${path}.gitTreeState=archive`,
    ],
  )
  return [
    ...values,
    `helm.sh/helm/v4/internal/version.version=v${versionOf('helm.sh/helm/v4')}`,
    `sigs.k8s.io/kwok/pkg/consts.Version=${versionOf('sigs.k8s.io/kwok')}`,
  ]
}
