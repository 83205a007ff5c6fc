/**
 * What the upstream reports about the account and its numbers, and what to do. `after`: empty, or `: ` and details;
 * `types`: the upstream's words for restrictions.
 */
export const NOTICE_SENTENCES = {
  notice: 'WhatsApp reports {what}',
  notice_unknown: 'WhatsApp posts "{field}", which this version of Parley does not know',
  notice_restricted: 'WhatsApp has restricted the account{after}',
  notice_restricted_templates: 'WhatsApp has restricted the account: it refuses templates and broadcasts ({types})',
  notice_restricted_answers: 'WhatsApp has restricted the account: it refuses messages without a template ({types})',
  notice_restricted_all: 'WhatsApp has restricted the account: it refuses all messages ({types})',
  notice_violation: 'WhatsApp reports a violation{after}',
  notice_reinstated: 'WhatsApp has reinstated the account',
  notice_disabled: 'WhatsApp has disabled the account',
  notice_will_disable: 'WhatsApp will disable the account{after}',
  notice_deleted: 'The account was deleted',
  notice_disconnected: 'The number is not connected any more{after}',
  notice_reconnected: 'The number is connected again',
  notice_alert: 'Alert from WhatsApp{after}',
  notice_rejected: 'WhatsApp has rejected the account',
  notice_reviewed: 'WhatsApp has reviewed the account{after}',
  notice_limit: 'The daily limit of conversations that you begin is now {limit}',
  notice_quality: 'The quality of {number} is low',
  notice_faster: '{number} may send faster now',
  notice_name_approved: 'WhatsApp has approved the name "{name}"',
  notice_name_rejected: 'WhatsApp has rejected the name "{name}"{after}',
  notice_username: 'WhatsApp reports on the username of {number}{after}',
  notice_call_settings: 'The call settings were changed',
  notice_pin_reset: 'Somebody asked to turn off the PIN of {number}',
  notice_pin_changed: 'The PIN of {number} was changed',
  advice_unread:
    'Parley does not read these callbacks. It deletes them with the other raw callbacks, by default after 30 days.',
  advice_look: 'Open the account in WhatsApp Manager.',
  advice_appeal: 'Open the account in WhatsApp Manager, and ask for a review there if it is wrong.',
  advice_refused:
    'WhatsApp refuses what the restriction names until it ends. Open the account in WhatsApp Manager, and ask for a review there if it is wrong.',
  advice_connect_other: 'Connect another account.',
  advice_connect_again: 'If it is still disconnected, connect it again.',
  advice_send_less: 'Send less, and only to people who expect it: the limit of the number may be lowered.',
  advice_other_name: 'Choose another name in WhatsApp Manager.',
  advice_access: 'If nobody in your team did this, look at who has access to the account.',
} as const
