import { type Static, Type } from 'typebox'
import { excerpt } from '../../../lib/text/text.js'
import { OptionalText, RequiredList, RequiredText } from '../../../model/fields.js'
import type { FileSource, InteractiveHeader } from '../../../model/messages/content.js'
import type { Choice, UrlButton } from '../../../model/messages/interactive.js'
import { checkSections, LIMITS, refuseTwice } from '../../../model/messages/limits.js'
import { Problem } from '../../../model/problem.js'
import { checkedAddress, checkedText } from './buttons.js'
import { carouselVerb } from './carousel.js'
import { common, textOrNull } from './fields.js'
import { Address } from './files.js'
import { sendVerb } from './verb.js'

/** `title` is the header and `description` the body. If only one is given, it is the body. */
const heading = { title: OptionalText(LIMITS.body), description: OptionalText(LIMITS.body) }

const ListBody = Type.Object({
  ...common,
  ...heading,
  footerText: OptionalText(LIMITS.footer),
  buttonText: RequiredText(LIMITS.title, 'What opens the list'),
  sections: RequiredList(
    Type.Object({
      title: OptionalText(LIMITS.sectionTitle, 'Required in a list of several sections'),
      rows: RequiredList(
        Type.Object({
          title: RequiredText(LIMITS.rowTitle),
          rowId: RequiredText(LIMITS.rowId),
          description: OptionalText(LIMITS.description),
        }),
        LIMITS.rows,
      ),
    }),
    LIMITS.sections,
  ),
})

const ButtonsBody = Type.Object({
  ...common,
  ...heading,
  footer: OptionalText(LIMITS.footer),
  thumbnailUrl: Type.Optional(Address),
  mediaMessage: Type.Optional(
    Type.Object(
      {
        mediatype: Type.Enum(['image', 'video', 'document'], { 'x-missing': true }),
        media: Address,
        fileName: OptionalText(LIMITS.filename),
      },
      { description: 'A file above the text, in place of thumbnailUrl' },
    ),
  ),
  buttons: RequiredList(
    Type.Object({
      type: Type.String({ description: 'reply, or url for a single button that opens an address' }),
      displayText: Type.Optional(Type.String()),
      id: Type.Optional(Type.String()),
      url: Type.Optional(Type.String({ description: 'Of a button of type url' })),
    }),
    LIMITS.buttons,
  ),
})

/** Messages that people reply to with a tap: lists, buttons and carousels. */
export const interactiveVerbs = [
  sendVerb({
    names: ['sendList'],
    summary: 'Send a list to choose from',
    shape: {
      wrapper: 'listMessage',
      fields: { title: [], description: [], footerText: ['footer'], buttonText: [], sections: ['values'] },
    },
    fileField: null,
    schema: ListBody,
    read: (given) => {
      checkSections(given.sections, 'sections', 'rowId')
      const { above, body } = readHeading(given, false)
      const sections = given.sections.map(({ title, rows }) => ({
        title: textOrNull(title),
        rows: rows.map((row) => ({ id: row.rowId, title: row.title, description: textOrNull(row.description) })),
      }))
      const footer = textOrNull(given.footerText)
      const list = { type: 'list' as const, body, footer, button: given.buttonText, sections }
      return { content: { type: 'interactive', interactive: list, header: above } }
    },
  }),
  sendVerb({
    names: ['sendButtons'],
    summary: 'Send up to three buttons, or one that opens an address',
    shape: {
      wrapper: 'buttonMessage',
      fields: {
        title: [],
        description: [],
        footer: ['footerText'],
        thumbnailUrl: [],
        mediaMessage: [],
        buttons: [],
      },
    },
    fileField: null,
    schema: ButtonsBody,
    read: (given) => {
      // First, because clients send other types without title and description.
      checkTypes(given)
      const file = readFile(given)
      const { above, body } = readHeading(given, file !== null)
      const interactive = { body, footer: textOrNull(given.footer), ...readAction(given) }
      return { content: { type: 'interactive', interactive, header: file ?? above } }
    },
  }),
  carouselVerb,
]

/** If the header is a file, the title becomes the first line of the body. */
function readHeading(
  { title, description }: { title?: string; description?: string },
  hasFile: boolean,
): { above: InteractiveHeader<FileSource> | null; body: string } {
  if (!title && !description) throw new Problem('missing_field', 'title or description is required')
  if (!title || !description) return { above: null, body: title || (description as string) }
  if (hasFile) return { above: null, body: checkedBody(`${title}\n\n${description}`) }
  if ([...title].length > LIMITS.header) {
    throw new Problem('invalid_field', `title must have at most ${LIMITS.header} characters if there is a description`)
  }
  return { above: { type: 'text', text: title }, body: description }
}

function checkedBody(text: string): string {
  if ([...text].length <= LIMITS.body) return text
  throw new Problem('invalid_field', `title and description must have at most ${LIMITS.body} characters together`)
}

function readFile({ thumbnailUrl, mediaMessage }: Static<typeof ButtonsBody>): InteractiveHeader<FileSource> | null {
  if (mediaMessage) {
    const { mediatype: type, media: url, fileName } = mediaMessage
    return { type, file: { url }, filename: textOrNull(fileName) }
  }
  return thumbnailUrl ? { type: 'image', file: { url: thumbnailUrl }, filename: null } : null
}

type Action = { type: 'button'; buttons: Choice[] } | ({ type: 'cta_url' } & UrlButton)

/** One button that opens an address, or buttons that reply. */
function readAction(given: Static<typeof ButtonsBody>): Action {
  const [first, ...others] = given.buttons
  if (first?.type !== 'url' || others.length > 0) return { type: 'button', buttons: readButtons(given) }
  const display_text = checkedText(first.displayText, 'buttons[0].displayText', LIMITS.title)
  return { type: 'cta_url', display_text, url: checkedAddress(first.url, 'buttons[0].url') }
}

/** Throws not_supported for buttons that cannot be sent. */
function checkTypes({ buttons }: Static<typeof ButtonsBody>): void {
  const other =
    buttons.length === 1 && buttons[0]?.type === 'url' ? undefined : buttons.find(({ type }) => type !== 'reply')
  if (!other) return
  const advice =
    other.type === 'pix'
      ? 'send the key or the code of the payment as a text'
      : 'other links and codes to copy need a template'
  throw new Problem(
    'not_supported',
    `Buttons of type ${excerpt(other.type)} are not supported here, only those of type reply, or a single one of type url: ${advice}`,
  )
}

function readButtons({ buttons }: Static<typeof ButtonsBody>): Choice[] {
  const read = buttons.map(({ id, displayText }, index) => ({
    id: checkedText(id, `buttons[${index}].id`, LIMITS.buttonId),
    title: checkedText(displayText, `buttons[${index}].displayText`, LIMITS.title),
  }))
  refuseTwice(read, (index) => `buttons[${index}].id`)
  return read
}
