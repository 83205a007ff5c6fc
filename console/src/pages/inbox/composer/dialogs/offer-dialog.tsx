import { Select, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { TEXT_LIMITS } from '../attachments/limits.js'
import { chatRequest } from '../requests.js'
import { FileCardsFields } from './file-cards-fields.js'
import { MessageDialog } from './message-dialog.js'
import type { MessageDialogProps } from './message-dialog-props.js'
import {
  NO_VALUES,
  OFFER_FIELDS,
  OFFER_KINDS,
  type OfferKind,
  type OfferValues,
  problemsOf,
  toContent,
  toInteractive,
} from './offers.js'

/** Composes a message with buttons: answers, a link, a request, a form, a product or the catalogue. */
export default function OfferDialog({ route, onSend, onClose }: MessageDialogProps) {
  const { t } = useTranslation('thread')
  const [kind, setKind] = useState<OfferKind>('button')
  const fields = OFFER_FIELDS[kind]
  const form = useForm<OfferValues>({
    initialValues: NO_VALUES,
    validate: (values) =>
      Object.fromEntries(problemsOf(kind, values).map(([path, problem]) => [path, t(problem, TEXT_LIMITS)])),
  })
  const choose = (chosen: OfferKind | null) => {
    if (chosen === null) return
    form.clearErrors()
    setKind(chosen)
  }
  const submit = form.onSubmit(
    (values) => {
      const content = toContent(kind, values)
      const preview = { message_type: 'interactive', media_type: 'interactive', message: values.body.trim(), content }
      onSend(chatRequest(route, { interactive: toInteractive(content) }, preview))
      onClose()
    },
    // Of many cards, the wrong one may be out of sight.
    (errors) => form.getInputNode(Object.keys(errors)[0] ?? '')?.focus(),
  )
  return (
    <MessageDialog title={t('kinds.buttons')} onSubmit={submit} onClose={onClose}>
      <Select
        label={t('offer.purpose')}
        description={kind === 'address' ? t('offer.addressHint') : null}
        data={OFFER_KINDS.map((value) => ({ value, label: t(`offer.purposes.${value}`) }))}
        value={kind}
        onChange={choose}
        allowDeselect={false}
        maxDropdownHeight={360}
      />
      {fields.map(({ name, maxLength, isNeeded }) => {
        const props = {
          label: t(`offer.fields.${name}`),
          maxLength,
          withAsterisk: isNeeded,
          ...form.getInputProps(name),
        }
        if (name === 'body') return <Textarea key={name} data-autofocus autosize minRows={2} maxRows={8} {...props} />
        if (name === 'rows' || name === 'products' || name === 'cards') {
          return (
            <Textarea key={name} autosize minRows={4} maxRows={12} description={t(`offer.lines.${name}`)} {...props} />
          )
        }
        if (name === 'url') return <TextInput key={name} type="url" placeholder="https://" {...props} />
        return <TextInput key={name} {...props} />
      })}
      {kind === 'file_carousel' && <FileCardsFields form={form} />}
    </MessageDialog>
  )
}
