// Names the methods and schemes of documents (specification §2).

export const METHODS = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'] as const
export type Method = (typeof METHODS)[number]

export type Scheme = 'http' | 'https'
