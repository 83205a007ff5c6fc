import { beforeAll, describe, expect, it } from 'vitest'
import { readForm, type ShownTemplate } from '../../../../console/src/shared/templates/template-form.js'
import {
  type PartValues,
  toPartContent,
  toPartFields,
} from '../../../../console/src/shared/templates/template-parts.js'
import { partsOf } from '../../../../src/model/templates/parts.js'
import { describeTemplate, type Template } from '../../../../src/model/templates/template.js'
import { startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'

const house = useStarted(startTemplateWorld)
let chatNumber: string

const card = {
  components: [
    { type: 'HEADER', format: 'IMAGE' },
    { type: 'BODY', text: 'Blue' },
  ],
}
const offer = (has_expiration: boolean) => ({
  type: 'LIMITED_TIME_OFFER',
  limited_time_offer: { text: 'Today', has_expiration },
})
const buttons = (type: string) => ({ type: 'BUTTONS', buttons: [{ type, text: 'See' }] })
const product = { type: 'HEADER', format: 'PRODUCT' }

/** The components besides the body, and the values of a member for them. */
const FILLED: [name: string, components: object[], values: PartValues][] = [
  ['offer', [offer(true)], { offerEndsAt: '2030-12-01T09:00' }],
  ['endless', [offer(false)], {}],
  ['catalog', [buttons('CATALOG')], { thumbnailProductId: 'mug-blue' }],
  ['products', [buttons('MPM')], { productIds: 'mug-blue, mug-red,' }],
  ['one_product', [product, buttons('SPM')], { catalogId: '5099', productId: ' mug-blue ' }],
]
const OTHERS: [name: string, components: object[]][] = [
  ['plain', []],
  ['form', [buttons('FLOW')]],
  ['permission', [{ type: 'CALL_PERMISSION_REQUEST' }]],
  ['carousel', [{ type: 'CAROUSEL', cards: [card, card] }]],
  ['new_component', [{ type: 'SURPRISE' }]],
  ['new_button', [buttons('SURPRISE')]],
  ['new_header', [{ type: 'HEADER', format: 'SURPRISE' }]],
]

const templateOf = (name: string, others: object[]) =>
  ({
    name,
    language: 'pt_BR',
    status: 'APPROVED',
    category: 'MARKETING',
    parameter_format: 'POSITIONAL',
    components: [{ type: 'BODY', text: 'Hello' }, ...others],
  }) as ShownTemplate

beforeAll(async () => {
  chatNumber = await house.newContact()
  for (const [name, others] of FILLED) await house.putTemplate({ name, body: 'Hello', others })
})

it.each([...FILLED.map(([name, others]) => [name, others] as const), ...OTHERS])(
  'who can fill a template is known as the service knows it: %s',
  (name, others) => {
    const { filledBy } = readForm(templateOf(name, others)).parts
    const template = templateOf(name, others) as Template
    const { unfillable, cards } = partsOf(template)
    expect(filledBy === 'any_send').toBe(describeTemplate(template).unfillable === null)
    expect(filledBy === 'api').toBe(unfillable !== null || cards.length > 0)
  },
)

describe.each(FILLED)('a template with the parts that a member filled in: %s', (name, others, values) => {
  it('is sent, and shown as before it was recorded', async () => {
    const { fields } = readForm(templateOf(name, others)).parts
    expect(fields.map((field) => field.name).sort()).toEqual(Object.keys(values).sort())
    await house.sent({ templateName: name, language: 'pt_BR', chatNumber, ...toPartFields(values) })
    const message = (await house.shown(chatNumber)).at(-1)
    expect(message.content).toMatchObject({ type: 'template', name, ...toPartContent(values) })
  })

  it('is refused without what it needs', async () => {
    const { fields } = readForm(templateOf(name, others)).parts
    const { status } = await house.send({ templateName: name, language: 'pt_BR', chatNumber })
    expect(status).toBe(fields.some(({ isNeeded }) => isNeeded) ? 400 : 200)
  })
})
