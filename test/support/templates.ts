import type { Template } from '../../src/model/templates/template.js'

/** An approved template, by default with named variables. */
export function makeTemplate(fields: Partial<Template> = {}): Template {
  return {
    name: 'promo',
    language: 'pt_BR',
    status: 'APPROVED',
    category: 'MARKETING',
    parameter_format: 'NAMED',
    components: [{ type: 'BODY', text: 'Hi {{name}}, {{discount}} off' }],
    ...fields,
  }
}
