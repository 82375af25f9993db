// Says in one line what `svc serve` serves, or what it cannot. Pure.

import { isReady, type StatusView } from './status-view.ts'

/** @example '1 document and 1 realm at http://127.0.0.1:18080' */
export const servedText = (
  { resources }: StatusView,
  urls: { readonly public: string; readonly page: string },
): string => {
  const served = resources.filter(isReady)
  const documents = served.filter(({ kind }) => kind === 'ApiSpecification').length
  const held = `${count(documents, 'document')} and ${count(served.length - documents, 'realm')}`
  return `${held} at ${urls.public}; web page: ${urls.page}; Ctrl-C ends it`
}

/** @returns undefined: all is served. The problems themselves have been printed, with file and line */
export const findUnserved = ({ resources, notes }: StatusView): string | undefined => {
  const unready = resources.filter((resource) => !isReady(resource))
  const broken = notes.filter(({ severity }) => severity === 'error')
  if (unready.length > 0)
    return `${unready.length} of ${count(resources.length, 'resource')} cannot be served`
  return broken.length > 0 ? `${count(broken.length, 'file')} cannot be read` : undefined
}

const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`
