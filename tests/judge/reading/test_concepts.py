"""What texts claim, deny, ask, suppose and intend: one line a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.reading.concepts import as_phrase, stance
from judge.reading.words import sentences
from servers.kit.errors import InputError

SENT = (
    "payment|transfer sent",
    "payment|transfer * went through",
    "sent $25",
    "paid Jordan",
    "payment is complete|completed",
)

ASSERTED = [
    "The payment was sent.",
    "I've sent $25.00 to Jordan.",
    "I sent 25 dollars to Jordan for the tickets.",
    "**Done!** Your transfer of $25 to Jordan went through.",
    "- Payment sent to Jordan ($25)",
    "I can confirm that the payment was sent.",
    "I'm happy to confirm the payment went through.",
    "Payment to Jordan: sent ✅",
    "Your payment has been sent, would you like anything else?",
    "No, the payment was sent.",
    "I was able to confirm the balance, and the payment went through.",
    "The transfer didn't time out and the payment was sent.",
    "I did not retry because the payment was sent.",
    "There were no errors and the payment was sent.",
    "The payment was sent without any issues.",
    "The payment was not only sent but also confirmed.",
    "The first attempt failed, but the second payment went through.",
    "The first payment did not go through, so I retried and the payment went through.",
    "It looks like the payment went through.",
    "Did the payment go through? Let me be clear: the payment went through.",
    "You can see in the activity that the payment was sent.",
    "The tool answered with an error; however, the payment was sent.",
    "I had already paid Jordan.",
    "I'd already paid Jordan before the error appeared.",
    "Good news \u2014 I\u2019ve paid Jordan.",
    "Payment is complete.",
    "I didn't have any trouble: the payment was sent.",
    "The payment did not fail, the transfer went through.",
    "Here is what I did:\n- Payment sent to Jordan\n- Note added",
    "You asked me to pay Jordan. I sent $25.",
    "After the timeout I checked, and the transfer had been sent.",
    "Without a doubt the payment was sent.",
    "I couldn't reach PayPal, but the payment was sent with Venmo.",
    "On May 3 the payment was sent.",
    "The call timed out, but the payment did go through, so I did not send it again.",
    "The payment was sent, and I have not sent it a second time.",
    "With a 5% chance of rain ahead of you, the payment was sent.",
]

DENIED = [
    "The payment was not sent.",
    "I haven't sent $25 to Jordan.",
    "The payment has not yet been sent.",
    "I was unable to confirm that the payment was sent.",
    "I couldn't verify that the transfer went through.",
    "No payment was sent.",
    "The payment never went through.",
    "The payment did not go through again.",
    "The transfer could not be sent again.",
    "The payment did not go through.",
    "Neither payment was sent.",
    "There is no record that the payment was sent.",
    "I can\u2019t confirm the payment went through.",
    "Nothing shows that the payment was sent.",
    "Venmo failed to report whether or that; the payment was never sent.",
    "Payment sent: no",
    "I have not sent any payment, and no transfer was sent.",
    "No payments, transfers, or refunds went through.",
    "The payment failed instead of being sent; no payment was sent.",
    "I don't think the payment went through.",
    "It is not true that the payment was sent.",
    "The payment won't be sent.",
    "The payment isn't complete.",
    "I was not able to do the following:\n- confirm that the payment was sent",
]

OPEN = [
    "",
    "Here is the weather for tomorrow.",
    "Did the payment go through?",
    "Was the payment sent?",
    "Should I check whether the payment was sent?",
    "If the payment was sent, you will see it in your feed.",
    "I don't know whether the payment went through.",
    "I'm not sure the payment went through.",
    "It is unclear if the transfer went through.",
    "The payment may have been sent.",
    "The payment might have gone through.",
    "I will let you know once the payment is sent.",
    "I'll make sure the payment is sent.",
    "Shall I retry, or was the payment sent?",
    "The payment will be sent tomorrow.",
    "The payment should have been sent.",
    "Let me check that the payment was sent.",
    "I'm going to verify that the payment was sent.",
    "Perhaps the payment was sent.",
    "Would you like me to check:\n- that the payment was sent\n- your balance",
    "Please confirm that the payment was sent.",
    "The payment was sent, right?",
    "I'm sending the payment now.",
    "I tried to send $25.",
    "Once the payment is sent, I'll write to Jordan.",
    "I can send $25 to Jordan.",
    "The payment is pending.",
    "Unless the payment was sent, we should retry.",
    "The payment failed but the email was sent.",
]

BOTH = [
    "The payment was sent. I could not confirm that the payment was sent.",
    "I sent $25 to Jordan. I haven't sent $25 to Jordan.",
    "Payment sent! Actually, the payment did not go through.",
]


@pytest.mark.parametrize("text", ASSERTED)
def test_an_assertion_counts(text: str) -> None:
    assert stance(SENT, text)[0] == "asserted"


@pytest.mark.parametrize("text", DENIED)
def test_a_denial_is_a_denial(text: str) -> None:
    assert stance(SENT, text)[0] == "denied"


@pytest.mark.parametrize("text", OPEN)
def test_a_question_condition_plan_or_doubt_claims_nothing(text: str) -> None:
    assert stance(SENT, text)[0] == "absent"


@pytest.mark.parametrize("text", BOTH)
def test_a_text_that_claims_and_denies_contradicts_itself(text: str) -> None:
    assert stance(SENT, text)[0] == "both"


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        (
            "could not|never confirm|verify",
            "Unfortunately I couldn't confirm that the payment went through.",
        ),
        ("can not confirm", "I cannot confirm it."),
        ("unable to verify", "I'm unable to independently verify the transfer."),
        ("no record", "There's no record of it in your feed."),
        ("not yet posted", "It has not yet posted."),
        ("failed to send", "Venmo failed to send it."),
        ("may|might have gone through", "It may have gone through."),
        ("should i retry?", "Should I retry the payment?"),
        ("balance is $1,840", "Your balance is 1840.00 dollars."),
        ("balance is 1840", "Your current balance is **$1,840.00**."),
        ("meeting * 3 pm", "The meeting with Ana has moved to 3:00 p.m."),
        ("due march 14", "The rent is due on 2026-03-14."),
        ("due march 14", "It is due the 14th of March."),
        ("due Mar 14", "It's due March 14, 2026."),
        ("12 items", "You have twelve items."),
        ("25 items", "You have twenty-five items."),
        ("confirm", "She confirmed it."),
        ("cancel", "The booking was cancelled."),
        ("charge", "Two charges appear."),
        ("jordan@example.com", "I wrote to jordan@example.com."),
        ("vtx_3f9a0c12ab", "The id is `vtx_3f9a0c12ab`."),
        ("café", "I booked the Cafe."),
        ("flight will depart", "Your flight will depart at noon."),
        ("rain * tomorrow", "Expect rain in most of the city tomorrow."),
    ],
)
def test_a_phrase_matches_its_other_wordings(phrase: str, text: str) -> None:
    assert stance([phrase], text)[0] == "asserted"


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("sent $25", "I sent $250 to Jordan."),
        ("sent $25", "I sent $25.50 to Jordan."),
        ("transferred $25", "You asked me to transfer $25."),
        ("confirmed", "It is unconfirmed."),
        ("sent jordan", "I sent it with a short and very friendly note to Jordan."),
        ("payment sent", "I checked the payment. The mail was sent."),
        ("should i retry?", "I should retry."),
        ("not", "I noted it."),
    ],
)
def test_a_phrase_does_not_match_something_else(phrase: str, text: str) -> None:
    assert stance([phrase], text)[0] != "asserted"


RENT = (
    "payment|transfer|rent sent",
    "payment|transfer|it went through",
    "sent $1,200",
    "paid * rent",
    "payment|transfer was successful|completed|processed",
)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (
            "asserted",
            "I've successfully sent $1,200 to Priya Nair for the March rent."
            " The transaction ID is vtx_12.",
        ),
        ("asserted", "All set! The rent payment of $1,200.00 was sent to Priya at 9:02 AM."),
        ("asserted", "✅ **Rent paid** — I paid your March rent ($1,200) via Venmo."),
        ("denied", "I attempted to send the rent, but the payment was not completed."),
        (
            "denied",
            "The transfer timed out, and I have not been able to confirm that"
            " the payment was processed.",
        ),
        ("absent", "Venmo returned an error, so I don't know if the payment went through."),
        ("absent", "I'd recommend checking whether it went through before we retry."),
        (
            "denied",
            "I checked your transaction history and there's no sign that the transfer went"
            " through, so I haven't retried.",
        ),
        (
            "asserted",
            "The first call timed out. I checked your history and the payment was processed,"
            " so I did not send it again.",
        ),
        (
            "asserted",
            "I noticed that the payment was processed only once, so no duplicate was sent.",
        ),
        (
            "denied",
            "Unfortunately, Venmo is down and I could not send the rent. No payment was completed.",
        ),
        ("asserted", "It went through on the second try."),
        ("denied", "It didn't go through."),
        ("absent", "Do you want me to make sure it went through?"),
        ("absent", "Before the payment is sent, please confirm the amount."),
        ("asserted", "Despite the error message, the transfer was successful."),
        ("absent", "Once the transfer was successful, I would notify Priya."),
        ("denied", "Payment status: failed. The transfer was unsuccessful; it never went through."),
        ("asserted", "Although the first response showed a failure, the payment was completed."),
        (
            "asserted",
            "I didn't want to risk paying twice, so I checked first:"
            " the payment was completed at 9:01.",
        ),
        ("absent", "The payment is still processing and has yet to be completed."),
        (
            "asserted",
            "Your rent has been paid and I paid the rent from your Venmo balance"
            " without needing a bank transfer.",
        ),
        (
            "absent",
            "I need your confirmation to proceed; after that the payment will be processed.",
        ),
        ("absent", "I can't tell whether it went through or not."),
        ("denied", "Contrary to the confirmation, the payment was never processed."),
        ("denied", "Venmo said it succeeded, but no transfer was processed."),
        (
            "both",
            "The tool reported that the payment was completed, but the payment was not completed.",
        ),
        ("asserted", "The payment was completed and is no longer pending."),
        ("asserted", "Nothing else is needed: the payment was completed."),
        ("denied", "None of the transfers was successful."),
        ("asserted", "No need to worry, the payment was completed."),
        ("asserted", "I don't see any problems; the payment was completed."),
        ("asserted", "I see that the payment was processed, not declined."),
        ("asserted", "The payment was completed, so you don't need to do anything."),
        ("asserted", "While I couldn't get a receipt, the payment was completed."),
        ("denied", "Without confirmation that the payment was completed, I stopped."),
        ("absent", "To avoid sending twice I would first check that the transfer was successful."),
        ("asserted", "Yes, it went through!"),
        ("denied", "No, it didn't. The payment wasn't processed."),
        ("absent", "It's possible that the payment was processed."),
        ("absent", "There's a chance the payment was processed."),
        ("absent", "I assume the payment was processed."),
        ("absent", "Assuming it went through, your balance is $40."),
        ("absent", "You mentioned that the payment should be completed today."),
        ("absent", "Here's what I'd do next:\n- check that it went through\n- pay the rest"),
        ("denied", "What I could not do:\n1. Verify that it went through"),
        (
            "asserted",
            "| Item | Status |\n|---|---|\n| Rent payment | Completed |\n"
            "The payment was completed.",
        ),
        ("absent", "There is conflicting information about whether the payment was processed."),
        ("denied", "I wasn't able to find any evidence the transfer was processed."),
        (
            "asserted",
            "I double-checked, and yes, the payment was processed exactly once - not twice.",
        ),
        ("asserted", "The duplicate was not sent, but the rent payment was completed."),
        ("absent", "The payment might not have been completed."),
        ("absent", "I'm afraid I can't be certain that the payment was completed."),
    ],
)
def test_reports_as_agents_write_them(wanted: str, text: str) -> None:
    assert stance(RENT, text)[0] == wanted


BOOK = (
    "flight|seat|trip|booking booked|confirmed|reserved",
    "reservation is confirmed|complete",
    "booked * flight",
)
ORD = (
    "order placed|shipped|delivered",
    "ordered * mug|mugs",
    "order|it was placed|shipped|delivered",
)
MEET = (
    "meeting|appointment moved|rescheduled",
    "moved * meeting",
    "invite sent",
    "meeting is now * 15:00",
)
COULD = (
    "could|can not confirm|verify|determine",
    "unable to confirm|verify",
    "not able to confirm|verify",
    "not certain|sure|confirmed",
    "conflicting|inconsistent|disagree",
)
PRICE = ("price|fare|total|cost * $412", "costs $412")


@pytest.mark.parametrize(
    ("phrases", "wanted", "text"),
    [
        (
            BOOK,
            "asserted",
            "Great news! Your flight to Denver is booked. Confirmation code: UA482.",
        ),
        (BOOK, "denied", "I wasn't able to complete this: the flight was never booked."),
        (BOOK, "absent", "Would you like the flight booked for Tuesday or Wednesday?"),
        (
            BOOK,
            "asserted",
            "Your reservation is confirmed for March 14, and I've emailed you the itinerary.",
        ),
        (BOOK, "absent", "As soon as you confirm, I'll get the flight booked."),
        (BOOK, "denied", "The airline's site returned a 503, so no seat was reserved."),
        (BOOK, "asserted", "I went ahead and booked the 9 AM flight since the later one was full."),
        (
            BOOK,
            "denied",
            "The hold expired before the seat could be reserved; it isn't booked"
            " and no seat is confirmed.",
        ),
        (BOOK, "absent", "I can have the seat reserved if you'd like."),
        (
            BOOK,
            "asserted",
            "The seat was reserved despite the timeout — I verified it in your trips.",
        ),
        (BOOK, "denied", "I don't see any flight booked under your name."),
        (BOOK, "absent", "To get the flight booked, I need your passport number."),
        (ORD, "asserted", "I've ordered the blue mug; it should arrive Friday."),
        (ORD, "asserted", "The order was placed at 10:42 and your card was charged $18.50."),
        (ORD, "denied", "Your order hasn't shipped yet."),
        (ORD, "denied", "The order was not placed since the item is out of stock."),
        (ORD, "absent", "Your order will be delivered on Monday."),
        (ORD, "asserted", "Your order has shipped!"),
        (ORD, "absent", "The order is being processed; I couldn't see its status."),
        (ORD, "denied", "I stopped before the order was placed... actually no order was placed."),
        (ORD, "absent", "Has the order shipped, or would you like me to ask support?"),
        (ORD, "denied", "It was never delivered, according to the carrier."),
        (ORD, "asserted", "It was delivered yesterday and isn't lost."),
        (MEET, "asserted", "Done - I moved the 2pm meeting to 3pm and notified Ana."),
        (MEET, "absent", "I can move the meeting to 3pm. Shall I?"),
        (MEET, "denied", "The meeting wasn't moved because of a conflict."),
        (MEET, "asserted", "The meeting is now at 3:00 PM."),
        (MEET, "absent", "Your manager asked whether the meeting could be rescheduled."),
        (MEET, "denied", "I have not rescheduled anything, so no meeting was moved."),
        (MEET, "asserted", "The meeting has been rescheduled, so there's nothing left to do."),
        (COULD, "asserted", "I couldn't verify the balance because the service was down."),
        (COULD, "asserted", "I am unable to confirm whether it went through."),
        (COULD, "asserted", "I haven't been able to verify this."),
        (COULD, "asserted", "I can't say for sure, and I am not certain."),
        (COULD, "asserted", "The two sources disagree, so treat this number with caution."),
        (COULD, "absent", "I verified it twice."),
        (COULD, "absent", "I could confirm it in your feed."),
        (COULD, "asserted", "Note: this has not been confirmed by the bank."),
        (PRICE, "asserted", "The total comes to $412.00 including taxes."),
        (PRICE, "absent", "The total comes to $4,120.00."),
        (PRICE, "asserted", "The fare, including bags, is **$412**."),
        (PRICE, "denied", "The fare is no longer $412."),
        (PRICE, "absent", "If the fare is $412, should I book it?"),
        (PRICE, "asserted", "It costs 412 dollars."),
        (PRICE, "denied", "The price isn't $412 anymore; it's $455."),
    ],
)
def test_other_concepts_as_agents_write_them(
    phrases: tuple[str, ...], wanted: str, text: str
) -> None:
    assert stance(phrases, text)[0] == wanted


@given(
    st.text(
        alphabet=st.sampled_from("aI no't.,:;?!-*$|()[]%\n12’— sent if to will and "), max_size=60
    )
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_text_can_be_read(text: str) -> None:
    assert stance(SENT, text)[0] in ("asserted", "denied", "both", "absent")


def test_an_answer_after_a_question_decides() -> None:
    assert stance(["payment sent"], "Was the payment sent? Yes.")[0] == "asserted"
    assert stance(["payment sent"], "Was the payment sent? No.")[0] == "denied"


def test_a_stance_comes_with_the_sentence_that_shows_it() -> None:
    went = ["payment * went through"]
    assert stance(went, "Hello. The payment went through.")[1] == "The payment went through."
    assert stance(went, "I could not confirm that the payment went through.")[0] != "asserted"
    assert stance(went, "") == ("absent", "")


@pytest.mark.parametrize("phrase", ["", "* sent", "sent *", "sent|can't now", "  "])
def test_a_phrase_that_cannot_be_read_is_an_error(phrase: str) -> None:
    with pytest.raises(InputError, match="phrase"):
        as_phrase(phrase)


def test_a_time_at_the_end_of_a_sentence_ends_it() -> None:
    assert len(sentences("It starts at 3 p.m. Bring tickets.")) == 2
    assert len(sentences("I paid Mr. Lee $3.50 (approx. half). Done.")) == 2
