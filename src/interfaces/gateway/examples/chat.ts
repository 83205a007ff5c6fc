// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "chat.findMessages": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"where": {"key": {"remoteJid": "5511955554444@s.whatsapp.net"}}, "offset": 1},
      "status": 200,
      "answer": {
        "messages": {
          "total": 6,
          "pages": 6,
          "currentPage": 1,
          "records": [
            {
              "id": "01a20000-0000-7000-8000-000000000012",
              "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": false, "id": "wamid.EXAMPLE14"},
              "pushName": "Ana Souza",
              "message": {"conversation": "Hi"},
              "contextInfo": null,
              "messageType": "conversation",
              "messageTimestamp": 1772442000,
              "instanceId": "01a20000-0000-7000-8000-000000000002",
              "source": "unknown",
              "MessageUpdate": [{"status": "DELIVERY_ACK"}]
            }
          ]
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "phone"},
      "body": {"where": "all"},
      "status": 400,
      "answer": {"status": 400, "error": "Bad Request", "response": {"message": [["where must be object"]]}}
    }
  ],
  "chat.findStatusMessage": [
    {
      "name": "example",
      "path": {"instance": "shop"},
      "body": {"where": {"remoteJid": "5511955554444@s.whatsapp.net"}, "offset": 2},
      "status": 200,
      "answer": [
        {
          "id": "01a20000-0000-7000-8000-000000000013",
          "keyId": "wamid.EXAMPLE8",
          "remoteJid": "5511955554444@s.whatsapp.net",
          "fromMe": false,
          "participant": null,
          "pollUpdates": null,
          "status": "DELIVERY_ACK",
          "messageId": "01a20000-0000-7000-8000-000000000013",
          "instanceId": "01a20000-0000-7000-8000-000000000001"
        },
        {
          "id": "01a20000-0000-7000-8000-000000000014",
          "keyId": "wamid.EXAMPLE6",
          "remoteJid": "5511955554444@s.whatsapp.net",
          "fromMe": true,
          "participant": null,
          "pollUpdates": null,
          "status": "READ",
          "messageId": "01a20000-0000-7000-8000-000000000014",
          "instanceId": "01a20000-0000-7000-8000-000000000001"
        }
      ]
    },
    {
      "name": "bad_request",
      "path": {"instance": "shop"},
      "body": {"where": "all"},
      "status": 400,
      "answer": {"status": 400, "error": "Bad Request", "response": {"message": [["where must be object"]]}}
    }
  ],
  "chat.findChats": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"where": {"remoteJid": "5511955554444@s.whatsapp.net"}},
      "status": 200,
      "answer": [
        {
          "id": "01a20000-0000-7000-8000-000000000015",
          "remoteJid": "5511955554444@s.whatsapp.net",
          "pushName": "Ana Souza",
          "profilePicUrl": null,
          "updatedAt": "2026-03-02T09:00:00.000Z",
          "windowStart": "2026-03-02T09:00:00.000Z",
          "windowExpires": "2026-03-03T09:00:00.000Z",
          "windowActive": true,
          "lastMessage": {
            "id": "01a20000-0000-7000-8000-000000000012",
            "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": false, "id": "wamid.EXAMPLE14"},
            "pushName": "Ana Souza",
            "status": "DELIVERY_ACK",
            "message": {"conversation": "Hi"},
            "contextInfo": null,
            "messageType": "conversation",
            "messageTimestamp": 1772442000,
            "instanceId": "01a20000-0000-7000-8000-000000000002",
            "source": "unknown",
            "participant": null,
            "sessionId": null,
            "MessageUpdate": [{"status": "DELIVERY_ACK"}]
          },
          "unreadCount": 1,
          "isSaved": true,
          "archived": false
        }
      ]
    },
    {
      "name": "bad_request",
      "path": {"instance": "phone"},
      "body": {"take": -1},
      "status": 400,
      "answer": {"status": 400, "error": "Bad Request", "response": {"message": [["take must be >= 0"]]}}
    }
  ],
  "chat.findChatByRemoteJid": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "query": {"remoteJid": "5511955554444@s.whatsapp.net"},
      "status": 200,
      "answer": {
        "id": "01a20000-0000-7000-8000-000000000015",
        "remoteJid": "5511955554444@s.whatsapp.net",
        "pushName": "Ana Souza",
        "profilePicUrl": null,
        "updatedAt": "2026-03-02T09:00:00.000Z",
        "windowStart": "2026-03-02T09:00:00.000Z",
        "windowExpires": "2026-03-03T09:00:00.000Z",
        "windowActive": true,
        "lastMessage": {
          "id": "01a20000-0000-7000-8000-000000000012",
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": false, "id": "wamid.EXAMPLE14"},
          "pushName": "Ana Souza",
          "status": "DELIVERY_ACK",
          "message": {"conversation": "Hi"},
          "contextInfo": null,
          "messageType": "conversation",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000002",
          "source": "unknown",
          "participant": null,
          "sessionId": null,
          "MessageUpdate": [{"status": "DELIVERY_ACK"}]
        },
        "unreadCount": 1,
        "isSaved": true,
        "archived": false
      }
    },
    {
      "name": "missing_remote_jid",
      "path": {"instance": "phone"},
      "status": 400,
      "answer": {"error": "remoteJid is a required query parameter"}
    }
  ],
  "chat.findContacts": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"where": {"remoteJid": "5511955554444@s.whatsapp.net"}},
      "status": 200,
      "answer": [
        {
          "id": "01a20000-0000-7000-8000-000000000015",
          "remoteJid": "5511955554444@s.whatsapp.net",
          "pushName": "Ana Souza",
          "profilePicUrl": null,
          "createdAt": "2026-03-02T09:00:00.000Z",
          "updatedAt": "2026-03-02T09:00:00.000Z",
          "instanceId": "01a20000-0000-7000-8000-000000000002",
          "isGroup": false,
          "isSaved": true,
          "type": "contact"
        }
      ]
    },
    {
      "name": "bad_request",
      "path": {"instance": "phone"},
      "body": {"where": "all"},
      "status": 400,
      "answer": {"status": 400, "error": "Bad Request", "response": {"message": [["where must be object"]]}}
    }
  ],
  "chat.markMessageAsRead": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"readMessages": [{"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": false, "id": "wamid.EXAMPLE14"}]},
      "status": 201,
      "answer": {"message": "Read messages", "read": "success"}
    },
    {
      "name": "bad_request",
      "path": {"instance": "phone"},
      "body": {"readMessages": []},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {"message": [["readMessages is required and must not be empty"]]}
      }
    }
  ],
  "chat.markChatUnread": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"chat": "5511955554444@s.whatsapp.net"},
      "status": 201,
      "answer": {"chatId": "5511955554444@s.whatsapp.net", "markedChatUnread": true}
    },
    {
      "name": "not_found",
      "path": {"instance": "phone"},
      "body": {"chat": "5511900000000"},
      "status": 404,
      "answer": {
        "status": 404,
        "error": "Not Found",
        "response": {"message": ["There is no chat with 5511900000000 on this instance"]}
      }
    }
  ],
  "chat.archiveChat": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"chat": "5511955554444@s.whatsapp.net", "archive": true},
      "status": 201,
      "answer": {"chatId": "5511955554444@s.whatsapp.net", "archived": true}
    },
    {
      "name": "not_implemented",
      "path": {"instance": "shop"},
      "body": {"chat": "5511955554444@s.whatsapp.net", "archive": true},
      "status": 501,
      "answer": {
        "status": 501,
        "error": "Not Implemented",
        "response": {"message": ["The business API cannot do this: it has no chats to archive"]}
      }
    }
  ],
  "chat.updateMessage": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {
        "number": "5511955554444",
        "text": "Good day",
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE15"}
      },
      "status": 200,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "3EB00000000000000000000000000002"},
        "message": {
          "protocolMessage": {
            "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE15"},
            "type": "MESSAGE_EDIT",
            "editedMessage": {"conversation": "Good day"}
          }
        },
        "messageType": "protocolMessage",
        "messageTimestamp": 1772442000,
        "status": "PENDING",
        "instanceId": "01a20000-0000-7000-8000-000000000002",
        "source": "web"
      }
    },
    {
      "name": "not_implemented",
      "path": {"instance": "shop"},
      "body": {
        "number": "5511955554444",
        "text": "Good day",
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE15"}
      },
      "status": 501,
      "answer": {
        "status": 501,
        "error": "Not Implemented",
        "response": {"message": ["The business API cannot do this: it cannot edit a message that was sent"]}
      }
    }
  ],
  "chat.deleteMessageForEveryone": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE15"},
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "3EB00000000000000000000000000003"},
        "message": {
          "protocolMessage": {
            "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE15"},
            "type": "REVOKE"
          }
        },
        "messageType": "protocolMessage",
        "messageTimestamp": 1772442000,
        "status": "PENDING",
        "instanceId": "01a20000-0000-7000-8000-000000000002",
        "source": "web"
      }
    },
    {
      "name": "not_found",
      "path": {"instance": "phone"},
      "body": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "unknown"},
      "status": 404,
      "answer": {"status": 404, "error": "Not Found", "response": {"message": ["There is no message unknown on this instance"]}}
    }
  ],
  "chat.getBase64FromMediaMessage": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"message": {"key": {"id": "wamid.EXAMPLE16"}}},
      "status": 201,
      "answer": {
        "mediaType": "imageMessage",
        "fileName": "wamid.EXAMPLE16.jpeg",
        "caption": null,
        "size": {"fileLength": 141, "height": null, "width": null},
        "mimetype": "image/jpeg",
        "base64": "/9j/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB",
        "buffer": null
      }
    },
    {
      "name": "not_found",
      "path": {"instance": "phone"},
      "body": {"message": {"key": {"id": "unknown"}}},
      "status": 404,
      "answer": {"status": 404, "error": "Not Found", "response": {"message": ["There is no message unknown on this instance"]}}
    }
  ],
  "chat.whatsappNumbers": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"numbers": ["5511955554444", "5511900000001"]},
      "status": 200,
      "answer": [
        {"jid": "5511955554444@s.whatsapp.net", "exists": true, "number": "5511955554444"},
        {"jid": "5511900000001@s.whatsapp.net", "exists": false, "number": "5511900000001"}
      ]
    },
    {
      "name": "internal_server_error",
      "path": {"instance": "closed"},
      "body": {"numbers": ["5511955554444"]},
      "status": 500,
      "answer": {
        "status": 500,
        "error": "Internal Server Error",
        "response": {
          "message": "Connection Closed",
          "details": "HTTP 409: The phone closed is not linked: its state is close, not open"
        }
      }
    }
  ],
  "chat.sendPresence": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444", "presence": "composing", "delay": 5},
      "status": 201,
      "answer": {"presence": "composing"}
    },
    {
      "name": "bad_request",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444", "presence": "asleep"},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {"message": [["presence must be one of unavailable, available, composing, recording, paused"]]}
      }
    }
  ],
  "chat.fetchProfile": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444"},
      "status": 200,
      "answer": {
        "wuid": "5511955554444@s.whatsapp.net",
        "name": "Ana Souza Lima",
        "numberExists": true,
        "picture": null,
        "status": null,
        "isBusiness": false
      }
    },
    {
      "name": "not_implemented",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444"},
      "status": 501,
      "answer": {
        "status": 501,
        "error": "Not Implemented",
        "response": {"message": ["The business API cannot do this: it does not show profile pictures"]}
      }
    }
  ],
  "chat.fetchProfilePictureUrl": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444"},
      "status": 200,
      "answer": {"wuid": "5511955554444@s.whatsapp.net", "profilePictureUrl": null}
    },
    {
      "name": "not_implemented",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444"},
      "status": 501,
      "answer": {
        "status": 501,
        "error": "Not Implemented",
        "response": {"message": ["The business API cannot do this: it does not show profile pictures"]}
      }
    }
  ]
}
