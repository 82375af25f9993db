// Makes elements. Every text goes in as text and no markup is ever parsed: what documents and requests say is hostile.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, string | boolean>>} [attributes] a boolean: there, or not
 * @param {...(Child | readonly Child[])} children what is null, undefined or false is left out
 * @returns {HTMLElementTagNameMap[Tag]}
 * @example element('p', { class: 'hint' }, 'No document matches.')
 */
export const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, '')
    else if (value !== false) made.setAttribute(name, value)
  }
  made.append(...textsAndNodes(children.flat()))
  return made
}

/**
 * @param {Element} parent
 * @param {...Child} children
 */
export const fill = (parent, ...children) => {
  parent.replaceChildren(...textsAndNodes(children))
}

/**
 * @param {readonly Child[]} children
 * @returns {(Node | string)[]}
 */
const textsAndNodes = (children) =>
  children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return []
    return [typeof child === 'number' ? String(child) : child]
  })

/**
 * An element of the page itself.
 * @param {string} id
 */
export const elementOf = (id) => {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no element ${id}`)
  return found
}

/**
 * A link to another view of the page.
 * @param {string} hash as `hashOf` makes it
 * @param {...Child} children
 */
export const viewLink = (hash, ...children) => element('a', { href: hash }, ...children)

/**
 * @param {string} text
 */
export const code = (text) => element('code', {}, text)
