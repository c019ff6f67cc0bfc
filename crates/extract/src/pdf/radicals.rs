//! Radicals of Han characters that stand for the characters.
//!
//! Fonts have one glyph for a radical and for the character of the same shape, and some producers state that it is the radical.
//! It looks right, but no search for the character finds it.

use pdf_oxide::text::kangxi::kangxi_to_unified;

/// Returns the unified ideograph of a radical that has the shape of one, and any other character as it is.
pub(super) fn unified(c: char) -> char {
    match c {
        '\u{2f00}'..='\u{2fd5}' => kangxi_to_unified(c).unwrap_or(c),
        '\u{2e80}'..='\u{2eff}' => supplement(c).unwrap_or(c),
        _ => c,
    }
}

/// Returns the ideograph of a radical of the supplement (`Equivalent_Unified_Ideograph` of Unicode), for those that are a word.
/// The library has others here.
fn supplement(radical: char) -> Option<char> {
    let ideograph = match radical {
        '⺒' => '巳',
        '⺜' => '日',
        '⺝' => '月',
        '⺟' => '母',
        '⺠' => '民',
        '⺩' => '王',
        '⺬' => '示',
        '⻁' => '虎',
        '⻄' => '西',
        '⻅' => '见',
        '⻆' => '角',
        '⻉' => '贝',
        '⻋' => '车',
        '⻑' => '長',
        '⻓' => '长',
        '⻔' => '门',
        '⻗' => '雨',
        '⻘' => '青',
        '⻙' => '韦',
        '⻚' => '页',
        '⻛' => '风',
        '⻜' => '飞',
        '⻝' => '食',
        '⻢' => '马',
        '⻣' => '骨',
        '⻤' => '鬼',
        '⻥' => '鱼',
        '⻦' => '鸟',
        '⻧' => '卤',
        '⻨' => '麦',
        '⻩' => '黄',
        '⻫' => '斉',
        '⻬' => '齐',
        '⻭' => '歯',
        '⻮' => '齿',
        '⻯' => '竜',
        '⻰' => '龙',
        '⻱' => '龜',
        '⻲' => '亀',
        '⻳' => '龟',
        _ => return None,
    };
    Some(ideograph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radicals_become_ideographs_and_other_characters_stay() {
        let text: String = "⼀⽇⼈⼤⿕⺠⻑⻳⺡⺀日民長aé".chars().map(unified).collect();
        assert_eq!(text, "一日人大龠民長龟⺡⺀日民長aé");
    }
}
