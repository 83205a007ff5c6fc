import { Textarea, TextInput } from '@mantine/core'
import { isNotEmpty, useForm } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import { TEXT_LIMITS } from '../attachments/limits.js'
import { chatRequest } from '../requests.js'
import { MessageDialog } from './message-dialog.js'
import type { MessageDialogProps } from './message-dialog-props.js'

const PLACES = ['first', 'second', 'third'] as const

/** Composes a message with up to three reply buttons. */
export default function ButtonsDialog({ route, onSend, onClose }: MessageDialogProps) {
  const { t } = useTranslation('thread')
  const form = useForm({
    initialValues: { header: '', body: '', footer: '', first: '', second: '', third: '' },
    validate: {
      body: isNotEmpty(t('needed')),
      first: isNotEmpty(t('needed')),
    },
  })
  const submit = form.onSubmit(({ header, body, footer, ...titles }) => {
    const given = [...new Set(PLACES.map((place) => titles[place].trim()).filter((title) => title !== ''))]
    const buttons = given.map((title, index) => ({ id: `button_${index + 1}`, title }))
    const interactive = { header: header || null, body, footer: footer || null, buttons }
    onSend(
      chatRequest(
        route,
        { interactive: { ...interactive, type: 'button' } },
        {
          message_type: 'interactive',
          message: body,
          media_type: 'interactive',
          content: { ...interactive, type: 'buttons' },
        },
      ),
    )
    onClose()
  })
  return (
    <MessageDialog title={t('kinds.buttons')} onSubmit={submit} onClose={onClose}>
      <TextInput label={t('header')} maxLength={TEXT_LIMITS.header} {...form.getInputProps('header')} />
      <Textarea
        data-autofocus
        label={t('body')}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={TEXT_LIMITS.body}
        withAsterisk
        {...form.getInputProps('body')}
      />
      <TextInput label={t('footer')} maxLength={TEXT_LIMITS.footer} {...form.getInputProps('footer')} />
      {PLACES.map((place, index) => (
        <TextInput
          key={place}
          label={t('buttonTitle', { number: index + 1 })}
          maxLength={TEXT_LIMITS.title}
          withAsterisk={index === 0}
          {...form.getInputProps(place)}
        />
      ))}
    </MessageDialog>
  )
}
