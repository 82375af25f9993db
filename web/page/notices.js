// Shows what stands above every view: notes about resources that cannot be read, and the like.

import { element } from './dom.js'
import { countText } from './format.js'

/** @import { Note, Overview } from '../overview.ts' */

/** @param {Pick<Overview, 'notes' | 'moreNotes'>} overview */
export const noticesOf = ({ notes, moreNotes }) => [
  ...notes.map(notice),
  moreNotes > 0 && element('p', { class: 'note' }, `${countText(moreNotes, 'more note')}.`),
]

/**
 * Each part is an element, so that marks of direction in one do not turn the others round.
 * @param {Note} note
 */
const notice = ({ severity, message, place, resource }) =>
  element(
    'p',
    { class: severity === 'error' ? 'problem' : 'note' },
    [place, resource, message]
      .filter((text) => text !== null && text !== '')
      .flatMap((text, i) => [i > 0 && ' ', element('span', {}, text)]),
  )
